/**
 * What `trivet serve` checks at its start: a line of the log for each, and an error for what it cannot run with.
 *
 * @module
 */
import { importSigningKey } from "../../../oauth/tokens/signing_keys.ts";
import type { SigningKey } from "../../../oauth/records/token_record.ts";
import { createSecretSealer, listProviders, openProvider } from "../../../oauth/sign_in/stored_provider.ts";
import type { Log } from "../../../observability/log.ts";
import { serverSecret } from "../../../server_secret.ts";
import { type Store, StoreUnavailableError } from "../../../store/store.ts";
import { isShared, type Place } from "../data.ts";
import { checkModes, checkSpace } from "../doctor/check_files.ts";
import { checkServerSecret, checkSigningKeys } from "../doctor/check_keys.ts";
import { checkClock } from "../doctor/check_store.ts";
import { type Finding, ok, warn } from "../doctor/finding.ts";

/** What has started. */
export interface StartedParts {
  readonly store: Store;
  readonly place: Place;
  readonly hasTls: boolean;
  readonly tools: number;
  /** Whether requests of an address are limited. */
  readonly limitsAddresses: boolean;
  /** Whether it is known which addresses are those of proxies. */
  readonly knowsProxies: boolean;
}

/** A private address may be that of a proxy, whose clients would share one limit. */
const UNLIMITED = warn(
  "limits",
  "requests from private addresses, such as those of a proxy, count in no limit for addresses",
  "name the proxy with --trusted-proxy; without a proxy: --trusted-proxy none",
);

/**
 * Checks the store, keys, clock, files, providers, tools and TLS. Writes nothing.
 * @throws {Error} for keys that cannot be read
 */
export async function checkStart(log: Log, parts: StartedParts): Promise<void> {
  for (const finding of await findAtStart(parts)) {
    const { level, check, what, advice } = finding;
    log.line(level === "ok" ? "info" : "warn", "checked", { check, what, advice });
  }
}

async function findAtStart(
  { store, place, hasTls, tools, limitsAddresses, knowsProxies }: StartedParts,
): Promise<readonly Finding[]> {
  const local = [
    ...checkFiles(place),
    ...limitsAddresses && !knowsProxies ? [UNLIMITED] : [],
    ok("tools", `${tools} tools, resources and prompts of a module`),
    ok("tls", hasTls ? "https with certificate and key" : "http: https is up to a proxy"),
  ];
  try {
    const began = performance.now();
    const keys = await store.list<SigningKey>(["signing_key"]);
    const milliseconds = Math.round(performance.now() - began);
    for (const { value } of keys) await requireKey(value);
    return [
      ok("store", `answers in ${milliseconds} ms, durable: ${store.guarantees.durable}`),
      ...checkClock(store, Date.now),
      ...await checkSigningKeys(store),
      ...await checkServerSecret(store),
      ...await checkStoredProviders(store),
      ...local,
    ];
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error;
    // It may come back: until then requests are refused, and /readyz is 503.
    const what = `does not answer yet: ${error.message}`;
    return [warn("store", what, "see whether the database runs, and its address"), ...local];
  }
}

/** @throws {Error} for a key with which nothing could be signed */
async function requireKey(record: SigningKey): Promise<void> {
  try {
    await importSigningKey(record);
  } catch (cause) {
    throw new Error(
      `The signing key ${record.kid} cannot be read. Restore a backup, or replace the keys: trivet rotate signing-keys --revoke-old`,
      { cause },
    );
  }
}

async function checkStoredProviders(store: Store): Promise<readonly Finding[]> {
  const stored = await Array.fromAsync(listProviders(store));
  const sealer = createSecretSealer(serverSecret(store));
  const broken: string[] = [];
  for (const each of stored) await openProvider(each, sealer).catch(() => broken.push(each.id));
  const what = `${stored.length} identity providers are stored`;
  return [
    broken.length === 0
      ? ok("providers", what)
      : warn("providers", `${what}; not usable: ${broken.join(", ")}`, "add their secrets again"),
  ];
}

function checkFiles(place: Place): readonly Finding[] {
  if (isShared(place) || place.store === "memory") return [];
  return [...checkModes(place.folder), ...checkSpace(place.folder)];
}
