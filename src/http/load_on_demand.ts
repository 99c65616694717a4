/**
 * Functions whose modules are loaded when they are first called: rarely used code then costs neither start nor memory.
 *
 * @module
 */

/** The function that `load` gives, loaded with the first call; later calls run it at once. */
export function loadOnDemand<Arguments extends unknown[], Result>(
  load: () => Promise<(...values: Arguments) => Promise<Result>>,
): (...values: Arguments) => Promise<Result> {
  let loaded: ((...values: Arguments) => Promise<Result>) | undefined;
  // The function is kept, not the promise: on Workers a promise of a finished request never settles.
  return (...values) => loaded ? loaded(...values) : load().then((given) => (loaded = given)(...values));
}
