/**
 * The demo that the first start makes: a client, a user, an API key and two skills. Their secrets are random, shown once,
 * and kept in `demo.json` (readable by its owner only) for `--show-secrets`.
 *
 * @module
 */
import { cpSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { passwords } from "../../../crypto/password.ts";
import { randomSecret, secretDigest } from "../../../crypto/secret.ts";
import { addClient, removeClient } from "../../../oauth/clients/client.ts";
import { type Client, clientKey } from "../../../oauth/records/client_record.ts";
import { type User, userKey, usernameKey } from "../../../oauth/records/user_record.ts";
import { removeUser } from "../../../oauth/users/remove_user.ts";
import { addUser } from "../../../oauth/users/user.ts";
import { canonicalUsername } from "../../../oauth/users/username.ts";
import { createApiKey, verifyApiKey } from "../../../skills/api_key.ts";
import { putIfAbsent, type Store, timeOf } from "../../../store/store.ts";
import { makePrivateFolder, writePrivateFile } from "../private_files.ts";

export interface Demo {
  readonly client: { readonly id: string; readonly secret: string | null; readonly redirect_uri: string };
  readonly user: { readonly username: string; readonly password: string | null };
  readonly api_key: string | null;
}

const CLIENT = "demo-client";
const USER = "demo";
/** Registered without a port: any port of the loopback address matches (RFC 8252 §7.3). */
const REGISTERED_URI = "http://127.0.0.1/callback";
const REDIRECT_URI = "http://127.0.0.1:8788/callback";
/** Set last, so that an interrupted first start is repeated. It expires while an instance makes the demo. */
const DONE_KEY = ["demo"];
/** How long that can take: then the instance was killed. */
const MAKING_MS = 10_000;
const FILE = "demo.json";

/** Makes the demo unless it exists. `created` tells whether this call made it. */
export async function ensureDemo(
  store: Store,
  folder: string | undefined,
): Promise<{ demo: Demo | undefined; created: boolean }> {
  for (;;) {
    const done = await store.get(DONE_KEY);
    if (done && done.expires === undefined) {
      return { demo: folder === undefined ? undefined : readDemo(folder), created: false };
    }
    // Of instances that start together one makes it.
    if (await putIfAbsent(store, DONE_KEY, true, timeOf(store) + MAKING_MS)) break;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  await removeClient(store, CLIENT);
  await removeUser(store, USER);
  const password = randomSecret("").slice(0, 20);
  const { secret } = await addClient(store, {
    id: CLIENT,
    name: "Demo application",
    redirect_uris: [REGISTERED_URI],
  });
  await addUser(store, {
    username: USER,
    password,
    name: "Demo User",
    email: "demo@example.com",
    role: "author",
  });
  const { secret: api_key } = await createApiKey(store, { name: "demo" });
  const demo: Demo = {
    client: { id: CLIENT, secret: secret!, redirect_uri: REDIRECT_URI },
    user: { username: USER, password },
    api_key,
  };
  if (folder !== undefined) {
    writePrivateFile(join(folder, FILE), JSON.stringify(demo, null, 2) + "\n");
  }
  await store.commit({ set: [{ key: DONE_KEY, value: true }] });
  return { demo, created: true };
}

/** What a start prints of the demo. */
export interface ShownDemo {
  readonly demo: Demo;
  /** Whether its secrets are printed: then those that are `null` do not work any more. */
  readonly showsSecrets: boolean;
}

/**
 * What to print of the demo.
 * @param start whether this start created it, and whether the secrets of an earlier start are to be printed
 */
export async function toShownDemo(
  store: Store,
  demo: Demo | undefined,
  { created, wantsSecrets }: { readonly created: boolean; readonly wantsSecrets: boolean },
): Promise<ShownDemo> {
  if (!demo) return { demo: UNKNOWN_DEMO, showsSecrets: false };
  if (created) return { demo, showsSecrets: true };
  return wantsSecrets
    ? { demo: await withoutChangedSecrets(store, demo), showsSecrets: true }
    : { demo: withoutSecrets(demo), showsSecrets: false };
}

/** The demo without the secrets that were changed or removed since. */
async function withoutChangedSecrets(store: Store, demo: Demo): Promise<Demo> {
  const { client, user, api_key } = demo;
  const isSecret = client.secret !== null && await isSecretOf(store, client.id, client.secret);
  const isPassword = user.password !== null && await isPasswordOf(store, user.username, user.password);
  const isKey = api_key !== null && await verifyApiKey(store, api_key) !== undefined;
  return {
    client: { ...client, secret: isSecret ? client.secret : null },
    user: { ...user, password: isPassword ? user.password : null },
    api_key: isKey ? api_key : null,
  };
}

/** Not for the former secret of a client that `--keep-old` keeps for a while. */
async function isSecretOf(store: Store, id: string, secret: string): Promise<boolean> {
  const client = (await store.get<Client>(clientKey(id)))?.value;
  const usesSecret = client?.token_endpoint_auth_method.startsWith("client_secret_") === true;
  return usesSecret && client.secret_digest === secretDigest(secret);
}

async function isPasswordOf(store: Store, username: string, password: string): Promise<boolean> {
  const id = (await store.get<string>(usernameKey(canonicalUsername(username))))?.value;
  const user = id === undefined ? undefined : (await store.get<User>(userKey(id)))?.value;
  if (user?.password === undefined || user.locked !== undefined) return false;
  return (await passwords.verify(password, user.password)).valid;
}

/** The demo without its secrets. */
function withoutSecrets({ client, user }: Demo): Demo {
  return { client: { ...client, secret: null }, user: { ...user, password: null }, api_key: null };
}

/** The demo of a folder that no longer has its secrets. */
const UNKNOWN_DEMO: Demo = {
  client: { id: CLIENT, secret: null, redirect_uri: REDIRECT_URI },
  user: { username: USER, password: null },
  api_key: null,
};

/**
 * Makes the skills folder, with two skills in it, unless it exists. It appears complete, also when instances start
 * together. Only its owner can read it. Returns whether it made the folder.
 */
export function ensureSkills(folder: string): boolean {
  if (existsSync(folder)) return false;
  makePrivateFolder(dirname(folder));
  const made = mkdtempSync(`${folder}-`);
  // The first path is that of the sources, the second that of the built package.
  const skills = ["../../../../fixtures/skills", "../../../fixtures/skills"]
    .map((place) => fileURLToPath(new URL(place, import.meta.url)))
    .find((place) => existsSync(place));
  if (skills !== undefined) cpSync(skills, made, { recursive: true });
  try {
    renameSync(made, folder);
  } catch (error) {
    rmSync(made, { recursive: true });
    // Another instance made it first.
    if (!existsSync(folder)) throw error;
  }
  return true;
}

function readDemo(folder: string): Demo | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, FILE), "utf8"));
  } catch {
    return undefined;
  }
}
