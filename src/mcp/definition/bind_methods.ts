/**
 * Methods that stay bound to their object when a handler destructures it. An object pays only for the methods that are
 * read from it.
 *
 * @module
 */

/** Binds methods of a prototype when they are read. @param names separated by spaces */
export function bindMethods(prototype: object, names: string): void {
  for (const name of names.split(" ")) {
    const method = Reflect.get(prototype, name) as (this: unknown) => unknown;
    Object.defineProperty(prototype, name, {
      get() {
        return method.bind(this);
      },
    });
  }
}
