/**
 * Parts that load at first use, so that an app which never uses them neither ships nor starts them.
 *
 * @module
 */

export interface Lazy<Value> {
  /** `undefined` until it has loaded. */
  readonly value: Value | undefined;
  /** Loads it, once. After a failure the next call tries again. */
  load(): Promise<Value>;
  /** Runs with the value: at once when it has loaded, as the path of a call must not wait. */
  use<Result>(run: (value: Value) => Result): Result | Promise<Awaited<Result>>;
}

/** @param make is called again when two requests need the first value at once; the first value is kept */
export function lazy<Value extends object>(make: () => Promise<Value>): Lazy<Value> {
  let value: Value | undefined;
  // The value is kept, not the promise: on Workers a promise of a finished request never settles.
  async function load(): Promise<Value> {
    if (value) return value;
    const made = await make();
    return value ??= made;
  }
  return {
    get value() {
      return value;
    },
    load,
    use: (run) => value ? run(value) : load().then(run) as Promise<never>,
  };
}
