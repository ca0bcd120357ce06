// The service worker of the built page: it keeps all files of one build, and answers from them, so that the page works without a network.
// A new build is fetched in the background, and used once all tabs of the old one are closed. main.ts registers it.

// site/build/offline.ts fills in both.
const FILES = "%FILES%" as unknown as readonly string[];
const PREFIX = `halfulp ${location.pathname} `; // other pages of this server have caches of their own
const NAME = `${PREFIX}%VERSION%`;

interface Lifetime {
  waitUntil(work: Promise<unknown>): void;
}
interface Fetch {
  readonly request: Request;
  respondWith(answer: Promise<Response>): void;
}
const scope = self as unknown as {
  readonly clients: { claim(): Promise<void> };
  addEventListener(type: "install" | "activate", listener: (event: Lifetime) => void): void;
  addEventListener(type: "fetch", listener: (event: Fetch) => void): void;
};

scope.addEventListener("install", (event) => event.waitUntil(caches.open(NAME).then((cache) => cache.addAll([...FILES]))));

scope.addEventListener("activate", (event) =>
  event.waitUntil(
    caches
      .keys()
      .then((names) => Promise.all(names.filter((name) => name.startsWith(PREFIX) && name !== NAME).map((name) => caches.delete(name))))
      .then(() => scope.clients.claim()),
  ),
);

scope.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET" || new URL(request.url).origin !== location.origin) return;
  event.respondWith(
    caches
      .open(NAME)
      .then((cache) => cache.match(request.mode === "navigate" ? "./" : request, { ignoreSearch: true }))
      .then((found) => found ?? fetch(request)),
  );
});

export {};
