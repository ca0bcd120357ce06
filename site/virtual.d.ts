// What the build provides: the modules that site/build/documents.ts makes of the documentation, and constants of site/vite.config.ts.
declare const __VERSION__: string;
interface ImportMeta {
  readonly env: { readonly PROD: boolean };
}
declare module "virtual:documents" {
  export const pages: readonly {
    readonly id: string;
    readonly title: string;
    readonly group: string;
    load(): Promise<{ html: string }>;
  }[];
}
declare module "virtual:documents/search" {
  export const sections: readonly { readonly page: string; readonly anchor: string; readonly title: string; readonly text: string }[];
}
