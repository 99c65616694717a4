/**
 * The operations of `let` (`FORMAT.md` section 4). Random values are derived from a seed, so that a run can
 * be repeated.
 *
 * @module
 */
import { fromBase64url, sha256, toBase64, toBase64url, toHex, toText, utf8 } from "../exchange/bytes.ts";
import { generateKey, type KeyPair, signJws } from "./jws.ts";
import { KitError, NotClaimed } from "../outcome.ts";
import { fillTemplates, getVariable, hasVariable, toText as toPlain, type Variables } from "./template.ts";
import { isJsonObject, type JsonObject } from "./vector_file.ts";

export interface ComputeContext {
  /** Source of random values: the seed of the run and the name of the vector. */
  readonly seed: string;
  /** Seconds since the epoch, by the target's clock. */
  now(): number;
}

interface OperationContext extends ComputeContext {
  /** The variable that is computed. */
  readonly name: string;
  readonly variables: Variables;
}

const OPERATIONS: Readonly<Record<string, (operand: never, asked: OperationContext) => unknown>> = {
  value: (operand: unknown) => operand,
  merge: (operand: readonly unknown[]) => merge(operand),
  known: ([path, otherwise]: [string, unknown], { variables }) =>
    hasVariable(path, variables) ? getVariable(path, variables) : otherwise,
  random: (length: number, asked) => randomText(length, asked),
  uuid: async (_: unknown, asked) => {
    const bytes = (await sha256(utf8(`${asked.seed}/${asked.name}/uuid`))).subarray(0, 16);
    bytes[6] = bytes[6]! & 0x0f | 0x40;
    bytes[8] = bytes[8]! & 0x3f | 0x80;
    return toHex(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
  },
  s256: async (text: unknown) => toBase64url(await sha256(bytesOf(text))),
  sha256: async (text: unknown) => toHex(await sha256(bytesOf(text))),
  base64: (text: unknown) => toBase64(bytesOf(text)),
  base64url: (text: unknown) => toBase64url(bytesOf(text)),
  unbase64url: (text: unknown) => toText(fromBase64url(toPlain(text))),
  urlencode: (text: unknown) => formUrlencode(toPlain(text)),
  basic: ([id, secret]: [unknown, unknown]) =>
    `Basic ${toBase64(utf8(`${formUrlencode(toPlain(id))}:${formUrlencode(toPlain(secret))}`))}`,
  json: (value: unknown) => JSON.stringify(value),
  repeat: ([text, times]: [unknown, number]) => toPlain(text).repeat(times),
  concat: (parts: readonly unknown[]) =>
    parts.length > 0 && parts.every(Array.isArray)
      ? parts.flat(1)
      : parts.map((part) => toPlain(part)).join(""),
  alter: (operand: unknown) => {
    const text = toPlain(operand);
    const middle = text.length >> 1;
    return text.slice(0, middle) + (text[middle] === "A" ? "B" : "A") + text.slice(middle + 1);
  },
  shorten: (text: unknown) => toPlain(text).slice(0, -1),
  swapcase: (text: unknown) => {
    const plain = toPlain(text);
    // The unchanged value would be a valid request, whose success the vector would blame.
    if (!/[a-zA-Z]/.test(plain)) throw new NotClaimed("a value with an ASCII letter, for swapcase");
    return plain.replace(
      /[a-z]|[A-Z]/g,
      (letter) => letter < "a" ? letter.toLowerCase() : letter.toUpperCase(),
    );
  },
  percent: (text: unknown) =>
    toPlain(text).replace(/[0-9A-Za-z]/g, (each) => `%${toHex(utf8(each)).toUpperCase()}`),
  now: (offset: number, { now }) => Math.floor(now()) + offset,
  key: (alg: string) => generateKey(alg),
  jwt: ({ header, claims, key }: { header?: JsonObject; claims: unknown; key?: JsonWebKey }) =>
    signJws(header ?? {}, claims, key),
  dpop: (operand: DpopOperand, asked) => createDpopProof(operand, asked),
};

interface DpopOperand {
  readonly method: string;
  readonly url: string;
  readonly key: KeyPair;
  readonly token?: string;
  readonly nonce?: string;
  readonly header?: JsonObject;
  readonly claims?: JsonObject;
}

/** Computes variables in order. Each may use those before it. @throws {KitError} */
export async function compute(
  lets: JsonObject | undefined,
  variables: Variables,
  surroundings: ComputeContext,
): Promise<void> {
  for (const [name, wanted] of Object.entries(lets ?? {})) {
    variables[name] = await computeOne(name, wanted, variables, surroundings);
  }
}

async function computeOne(
  name: string,
  wanted: unknown,
  variables: Variables,
  surroundings: ComputeContext,
): Promise<unknown> {
  if (!isJsonObject(wanted)) return fillTemplates(wanted, variables);
  const [[operation, operand] = ["", undefined], ...more] = Object.entries(wanted);
  if (more.length > 0 || !Object.hasOwn(OPERATIONS, operation)) {
    throw new KitError(
      `Cannot compute "${name}": expected one operation, got "${Object.keys(wanted).join('", "')}"`,
    );
  }
  try {
    return await OPERATIONS[operation]!(fillTemplates(operand, variables) as never, {
      ...surroundings,
      name,
      variables,
    });
  } catch (error) {
    if (error instanceof KitError || error instanceof NotClaimed) throw error;
    throw new KitError(`Cannot compute "${name}" by "${operation}": ${(error as Error).message}`, {
      cause: error,
    });
  }
}

function bytesOf(text: unknown): Uint8Array<ArrayBuffer> {
  return utf8(toPlain(text));
}

function merge(all: readonly unknown[]): JsonObject {
  const whole: Variables = {};
  for (const [at, each] of all.entries()) {
    if (!isJsonObject(each)) throw new KitError("Cannot merge: every item must be an object");
    for (const [name, value] of Object.entries(each)) {
      if (value === null && at > 0) delete whole[name];
      else whole[name] = value;
    }
  }
  return whole;
}

async function randomText(length: number, { seed, name }: OperationContext): Promise<string> {
  let text = "";
  for (let counter = 0; text.length < length; counter++) {
    text += toBase64url(await sha256(utf8(`${seed}/${name}/${counter}`)));
  }
  return text.slice(0, length);
}

/** Encodes a text as `application/x-www-form-urlencoded` does. */
export function formUrlencode(text: string): string {
  return new URLSearchParams([["", text]]).toString().slice(1);
}

async function createDpopProof(operand: DpopOperand, asked: OperationContext): Promise<string> {
  const { method, url, key, token, nonce } = operand;
  const header = merge([{ typ: "dpop+jwt", jwk: key.public }, operand.header ?? {}]);
  const claims = merge([
    {
      jti: await randomText(22, asked),
      htm: method,
      htu: url,
      iat: Math.floor(asked.now()),
      ...(token !== undefined && { ath: toBase64url(await sha256(utf8(token))) }),
      ...(nonce !== undefined && { nonce }),
    },
    operand.claims ?? {},
  ]);
  return signJws(header, claims, key.private);
}
