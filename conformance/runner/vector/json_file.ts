/**
 * Parses a JSON file and remembers the line of every member, so that error messages have line and column on
 * every runtime.
 *
 * @module
 */

/** The file is not valid JSON (RFC 8259). The message has line and column. */
class JsonError extends Error {
  override readonly name = "JsonError";
}

export interface JsonFile {
  readonly value: unknown;
  /** The line of the value at a path of names and positions. */
  lineOf(path: readonly (string | number)[]): number;
}

const MAX_DEPTH = 100;
const SPACE = /[ \t\r\n]*/y;
// deno-lint-ignore no-control-regex
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /true|false|null/y;

/** @throws {JsonError} with line, column and problem */
export function parseJsonFile(text: string): JsonFile {
  const reader = new Reader(text.replace(/^\ufeff/, ""));
  return { value: reader.whole(), lineOf: (path) => reader.lineOf(path) };
}

class Reader {
  readonly #text: string;
  readonly #places = new Map<string, number>();
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  whole(): unknown {
    const value = this.#value([]);
    this.#take(SPACE);
    if (this.#at < this.#text.length) this.#refuse("unexpected text after the JSON value");
    return value;
  }

  lineOf(path: readonly (string | number)[]): number {
    for (let length = path.length; length > 0; length--) {
      const place = this.#places.get(JSON.stringify(path.slice(0, length)));
      if (place !== undefined) return this.#line(place);
    }
    return 1;
  }

  #value(path: readonly (string | number)[]): unknown {
    this.#take(SPACE);
    const key = JSON.stringify(path);
    if (!this.#places.has(key)) this.#places.set(key, this.#at);
    if (path.length > MAX_DEPTH) this.#refuse(`nested deeper than ${MAX_DEPTH} levels`);
    const first = this.#text[this.#at];
    if (first === "{") return this.#object(path);
    if (first === "[") return this.#list(path);
    const scalar = first === '"' ? this.#take(STRING) : this.#take(NUMBER) ?? this.#take(WORD);
    if (scalar === undefined) {
      this.#refuse(first === '"' ? "unterminated string" : this.#unexpected());
    }
    return JSON.parse(scalar!);
  }

  #object(path: readonly (string | number)[]): Record<string, unknown> {
    const members: [string, unknown][] = [];
    const names = new Set<string>();
    this.#at++;
    while (!this.#is("}")) {
      if (members.length > 0 && !this.#is(",")) this.#refuse(this.#unexpected('"," or "}"'));
      this.#take(SPACE);
      const start = this.#at;
      const written = this.#take(STRING);
      if (written === undefined) {
        this.#refuse(
          this.#text[start] === "}"
            ? 'trailing comma before "}"'
            : this.#unexpected("a name in double quotes"),
        );
      }
      const name: string = JSON.parse(written!);
      if (names.has(name)) this.#refuse(`duplicate name "${name}"`, start);
      names.add(name);
      this.#places.set(JSON.stringify([...path, name]), start);
      if (!this.#is(":")) this.#refuse(this.#unexpected('":"'));
      members.push([name, this.#value([...path, name])]);
    }
    return Object.fromEntries(members);
  }

  #list(path: readonly (string | number)[]): unknown[] {
    const items: unknown[] = [];
    this.#at++;
    while (!this.#is("]")) {
      if (items.length > 0) {
        if (!this.#is(",")) this.#refuse(this.#unexpected('"," or "]"'));
        this.#take(SPACE);
        if (this.#text[this.#at] === "]") this.#refuse('trailing comma before "]"');
      }
      items.push(this.#value([...path, items.length]));
    }
    return items;
  }

  #is(letter: string): boolean {
    this.#take(SPACE);
    if (this.#text[this.#at] !== letter) return false;
    this.#at++;
    return true;
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  #unexpected(wanted = "a value"): string {
    this.#take(SPACE);
    const rest = this.#text.slice(this.#at, this.#at + 20).split("\n")[0]!;
    if (this.#at >= this.#text.length) return `expected ${wanted}, got the end of the file`;
    if (/^\/[/*]/.test(rest)) return "comments are not allowed in JSON";
    if (rest.startsWith("'")) return "JSON strings need double quotes";
    return `expected ${wanted}, got ${JSON.stringify(rest)}`;
  }

  #line(place: number): number {
    return this.#text.slice(0, place).split("\n").length;
  }

  #refuse(why: string, place = this.#at): never {
    const column = place - this.#text.lastIndexOf("\n", place - 1);
    throw new JsonError(`line ${this.#line(place)}, column ${column}: ${why}`);
  }
}
