/**
 * The problems of a configuration, each with its place.
 *
 * @module
 */

/** Collects problems under a place. */
export class Problems {
  readonly #place: string;
  readonly #list: string[];

  constructor(place: string, list: string[]) {
    this.#place = place;
    this.#list = list;
  }

  add(member: string, problem: string): void {
    this.#list.push(`${this.#place}${member && `.${member}`}: ${problem}`);
  }

  /** Adds what a check throws, which names its place. */
  check(run: (place: string) => void): void {
    try {
      run(this.#place);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      this.#list.push(error.message);
    }
  }

  get count(): number {
    return this.#list.length;
  }
}
