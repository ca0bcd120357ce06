// import() of a module that only Node has, by a name that bundlers cannot see: those for browsers would look for it, and fail. This is
// plain JavaScript because the compiler wraps such a name in a helper function with a second parameter, which webpack's minifier
// inlines as a second argument of import(): an error at run time. scripts/build.mjs copies the file to dist/.

/** The module of this name. */
export function importByName(name) {
  return import(/* @vite-ignore */ /* webpackIgnore: true */ name);
}
