/**
 * Prepares a server for a store before its first use: loads the Lua functions, reads the settings that decide what a commit
 * survives, and checks the format of the records.
 *
 * @module
 */
import type { Buffer } from "node:buffer";
import { ensureFormat, type FormatOptions } from "../../format.ts";
import { encodeKey, prefixRange } from "../../key.ts";
import type { Guarantees } from "../../store.ts";
import { COMMIT, LIST, SWEEP } from "./functions.ts";
import { type Argument, type StoreKeys, toCommand, toEntry } from "./records.ts";

/** Sends a command, and resolves to its reply. */
export type Send = (args: readonly Argument[]) => Promise<unknown>;

/** Loads the Lua functions. Returns the digests by which they are called: of the commit, the list and the sweep. */
export async function loadFunctions(send: Send): Promise<readonly string[]> {
  const loaded: string[] = [];
  for (const source of [COMMIT, LIST, SWEEP]) {
    loaded.push(String(await send(["SCRIPT", "LOAD", source])));
  }
  return loaded;
}

/**
 * Checks that the user may publish: the Lua function of a commit does so last, and what it has written before stays.
 * @throws {Error} naming the right that is missing
 */
export async function checkPublish(send: Send, { channels }: StoreKeys): Promise<void> {
  // No one subscribes to this channel: others have the name of a kind at the end.
  await send(["PUBLISH", channels, ""]).catch((cause) => {
    if (!(cause instanceof Error) || !cause.message.startsWith("NOPERM")) throw cause;
    throw new Error(`Redis refuses PUBLISH. Give the user its channels: ACL SETUSER … &${channels}*`, {
      cause,
    });
  });
}

/** What an acknowledged commit survives by the settings of the server, and warnings when records may be lost. */
export async function readSettings(
  send: Send,
): Promise<{ readonly durable: Guarantees["durable"]; readonly warnings: readonly string[] }> {
  const info = String(await send(["INFO"]));
  const read = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, "m").exec(info)?.[1];
  // Managed services often refuse CONFIG.
  const [, sync] = await send(["CONFIG", "GET", "appendfsync"]).catch(() => []) as Buffer[];
  const keepsLog = read("aof_enabled") === "1";
  const durable = !keepsLog ? "none" : String(sync) === "always" ? "power" : "process";
  const warnings: string[] = [];
  if (!keepsLog) {
    warnings.push(
      "Redis runs without an append-only file: acknowledged commits are lost when it stops. Set appendonly yes",
    );
  }
  const policy = read("maxmemory_policy");
  if (read("maxmemory") !== "0" && policy !== undefined && policy !== "noeviction") {
    warnings.push(
      `Redis may evict records when its memory is full (${policy}). Set maxmemory-policy noeviction`,
    );
  }
  return { durable, warnings };
}

/**
 * Checks the format of the records.
 * @param functions the digests of the Lua functions
 * @param now milliseconds since the epoch
 * @throws {StoreFormatError} as {@linkcode ensureFormat}
 */
export async function checkFormat(
  send: Send,
  storeKeys: StoreKeys,
  [commit, list]: readonly string[],
  now: number,
  options: FormatOptions,
): Promise<void> {
  const evaluate = (digest: string, keys: readonly string[], args: readonly Argument[]) =>
    send(["EVALSHA", digest, String(keys.length), ...keys, ...args]);
  await ensureFormat(async (step) => {
    if ("get" in step) {
      const found = await send(["GET", storeKeys.records + encodeKey(step.get)]) as Buffer | null;
      return found === null ? undefined : toEntry(step.get, found).value;
    }
    if ("list" in step) {
      const { low, high } = prefixRange(step.list);
      const found = await evaluate(list!, [storeKeys.indexes + encodeKey(step.list)], [
        storeKeys.records,
        "0",
        "(" + low,
        "(" + high,
        String(step.limit),
        "0",
      ]) as Buffer[];
      return found.filter((_, i) => i % 2 === 1).map((value) => toEntry(step.list, value).value);
    }
    const { put: key, value } = step;
    const change = { check: [{ key, version: null }], set: [{ key, value }] };
    await evaluate(commit!, ...toCommand(storeKeys, now, change));
  }, options);
}
