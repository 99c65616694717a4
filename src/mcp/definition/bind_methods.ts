/**
 * Methods that stay bound to their object when they are taken off it, at no cost to objects of which none is.
 *
 * @module
 */

/** Makes the methods of a prototype so. @param names with spaces between them */
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
