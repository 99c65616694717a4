/**
 * The records of one kind for the memory driver. Those that live long are objects, which every reader shares. Those that
 * expire within days are many, and are stored in columns, by the names of their members: 165 bytes for an access token with
 * its key, of 250 as objects, where each number alone takes 24. Reading one makes an object of it, in a tenth of a microsecond.
 *
 * @module
 */

import type { Key } from "../../store.ts";

/** A record. Times count from the start of the store. */
export interface MemoryRecord {
  readonly value: unknown;
  /** The number of the commit. */
  readonly version: number;
  /** Milliseconds since the store's start. */
  readonly expires: number | undefined;
  /** Decoded when the record is first listed: most never are. */
  key?: Key | undefined;
}

/** Records with a longer lifetime are objects. */
const MAX_COLUMN_LIFETIME_MS = 8 * 86_400_000;
/** Sets of member names in one kind. Further ones are objects, so that names which are data do not make more. */
const MAX_LAYOUTS = 16;
const MAX_MEMBERS = 16;
/** Rows of one array: adding a row never copies more. */
const CHUNK_ROWS = 1024;

/** Keys are in so many maps, since a map that grows copies all its entries: 100 ms of one with a million. */
const MAPS = 32;

type Members = Readonly<Record<string, unknown>>;

/** The records of one kind, by encoded key. */
export class MemoryRows {
  /** An object, or its place: row times {@linkcode MAX_LAYOUTS} plus layout. */
  readonly #maps: (Map<string, MemoryRecord | number> | undefined)[] = Array(MAPS).fill(undefined);
  readonly #layouts: Layout[] = [];

  keys(): string[] {
    return this.#maps.flatMap((map) => map ? [...map.keys()] : []);
  }

  has(id: string): boolean {
    return this.#mapOf(id).has(id);
  }

  get(id: string): MemoryRecord | undefined {
    const place = this.#mapOf(id).get(id);
    return typeof place === "number" ? this.#layoutOf(place).read(rowOf(place)) : place;
  }

  /** Milliseconds since the store's start; `undefined` for a record that does not expire, or is not there. */
  expiresOf(id: string): number | undefined {
    const place = this.#mapOf(id).get(id);
    return typeof place === "number" ? this.#layoutOf(place).expires(rowOf(place)) : place?.expires;
  }

  /** @param now milliseconds since the store's start */
  set(id: string, { value, version, expires }: MemoryRecord, now: number): void {
    const map = this.#mapOf(id);
    const before = map.get(id);
    if (typeof before === "number") this.#layoutOf(before).remove(rowOf(before));
    const isShort = expires !== undefined && expires - now <= MAX_COLUMN_LIFETIME_MS;
    const index = isShort && isMembers(value) ? this.#findLayout(value) : -1;
    const place = index < 0
      ? { value: freeze(value), version, expires, key: undefined }
      : this.#layouts[index]!.add(value as Members, version, expires!) * MAX_LAYOUTS + index;
    map.set(id, place);
  }

  delete(id: string): boolean {
    const place = this.#mapOf(id).get(id);
    if (typeof place === "number") this.#layoutOf(place).remove(rowOf(place));
    return this.#mapOf(id).delete(id);
  }

  /** By characters before the end mark of the key, which differ most. */
  #mapOf(id: string): Map<string, MemoryRecord | number> {
    const index = (id.charCodeAt(id.length - 2) ^ id.charCodeAt(id.length - 3)) % MAPS;
    return this.#maps[index] ??= new Map();
  }

  #layoutOf(place: number): Layout {
    return this.#layouts[place % MAX_LAYOUTS]!;
  }

  /** The index of the layout for a value; -1 where it has none. */
  #findLayout(value: Members): number {
    const names = Object.keys(value).filter((name) => value[name] !== undefined);
    const found = this.#layouts.findIndex((layout) => layout.fits(names, value));
    if (found >= 0) return found;
    // "__proto__" is data in a record, but not as the name of an assigned member.
    if (names.length > MAX_MEMBERS || this.#layouts.length === MAX_LAYOUTS || names.includes("__proto__")) {
      return -1;
    }
    return this.#layouts.push(new Layout(names, names.map((name) => typeof value[name] === "number"))) - 1;
  }
}

function rowOf(place: number): number {
  return Math.floor(place / MAX_LAYOUTS);
}

function isMembers(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value) &&
    !(value instanceof Uint8Array);
}

/** The columns of the values with the same members, of which the same are numbers. */
class Layout {
  readonly #names: readonly string[];
  readonly #isNumber: readonly boolean[];
  /** Version, expiry and the members that are numbers, row by row. */
  readonly #numbers: Float64Array[] = [];
  readonly #others: unknown[][] = [];
  readonly #numbersOfRow: number;
  readonly #othersOfRow: number;
  readonly #free: number[] = [];
  #rows = 0;

  constructor(names: readonly string[], isNumber: readonly boolean[]) {
    this.#names = names;
    this.#isNumber = isNumber;
    const numbers = isNumber.filter((is) => is).length;
    this.#numbersOfRow = 2 + numbers;
    this.#othersOfRow = names.length - numbers;
  }

  fits(names: readonly string[], value: Members): boolean {
    return names.length === this.#names.length &&
      names.every((name, i) =>
        name === this.#names[i] && (typeof value[name] === "number") === this.#isNumber[i]
      );
  }

  add(value: Members, version: number, expires: number): number {
    const row = this.#free.pop() ?? this.#rows++;
    const chunk = Math.floor(row / CHUNK_ROWS);
    const at = row % CHUNK_ROWS;
    const numbers = this.#numbers[chunk] = fit(this.#numbers[chunk], at, this.#numbersOfRow);
    const others = this.#others[chunk] ??= [];
    let number = at * this.#numbersOfRow;
    let other = at * this.#othersOfRow;
    numbers[number++] = version;
    numbers[number++] = expires;
    for (let i = 0; i < this.#names.length; i++) {
      const member = value[this.#names[i]!];
      if (this.#isNumber[i]) numbers[number++] = member as number;
      else others[other++] = freeze(member);
    }
    return row;
  }

  read(row: number): MemoryRecord {
    const at = row % CHUNK_ROWS;
    const numbers = this.#numbers[Math.floor(row / CHUNK_ROWS)]!;
    const others = this.#others[Math.floor(row / CHUNK_ROWS)]!;
    let number = at * this.#numbersOfRow;
    let other = at * this.#othersOfRow;
    const version = numbers[number++]!;
    const expires = numbers[number++]!;
    const value: Record<string, unknown> = {};
    for (let i = 0; i < this.#names.length; i++) {
      value[this.#names[i]!] = this.#isNumber[i] ? numbers[number++] : others[other++];
    }
    return { value, version, expires };
  }

  expires(row: number): number {
    return this.#numbers[Math.floor(row / CHUNK_ROWS)]![row % CHUNK_ROWS * this.#numbersOfRow + 1]!;
  }

  remove(row: number): void {
    const at = row % CHUNK_ROWS * this.#othersOfRow;
    this.#others[Math.floor(row / CHUNK_ROWS)]!.fill(undefined, at, at + this.#othersOfRow);
    this.#free.push(row);
  }
}

/** The array with room for a row: it doubles up to a whole chunk. */
function fit(numbers: Float64Array | undefined, row: number, numbersOfRow: number): Float64Array {
  if (numbers && numbers.length > row * numbersOfRow) return numbers;
  const larger = new Float64Array(Math.min(CHUNK_ROWS, Math.max(8, 2 * row)) * numbersOfRow);
  if (numbers) larger.set(numbers);
  return larger;
}

/** A frozen deep copy, as a JSON round trip would create it. Bytes are copied but not frozen. */
function freeze(value: unknown): unknown {
  if (value instanceof Uint8Array) return value.slice();
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return Object.freeze(value.map(freeze));
  const copy: Record<string, unknown> = {};
  for (const name of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[name];
    if (member === undefined) continue;
    // An own "__proto__", which JSON can contain, is data here too, not a prototype.
    if (name === "__proto__") Object.defineProperty(copy, name, { value: freeze(member), enumerable: true });
    else copy[name] = freeze(member);
  }
  return Object.freeze(copy);
}
