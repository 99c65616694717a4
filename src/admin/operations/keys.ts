/**
 * Operations on API keys.
 *
 * @module
 */
import {
  type ApiKeyChanges,
  type ApiKeyRequest,
  createApiKey,
  findApiKey,
  removeApiKey,
  updateApiKey,
} from "../../skills/api_key.ts";
import type { ApiKey } from "../../skills/records.ts";
import type { Entry } from "../../store/store.ts";
import { createSearch, listPage, type Page, pageInput, pageOf, type PageQuery } from "../list_page.ts";
import { AdminError, type AdminOperation, checkScopes, notFound, type Schema, toIso } from "../operation.ts";
import { input, object, SECRET, type Secret, text, time } from "../schema.ts";

/** An API key in an answer. */
export interface AdminKey {
  readonly id: string;
  readonly name: string;
  readonly workspace: string;
  readonly scopes: readonly string[];
  readonly created: string;
}

const KEY: Schema = text("the id of the key", { min: 1, max: 256 });
const NAME = text("what the key is for", { min: 1, max: 256 });
/** RFC 6749 section 3.3. */
const SCOPES: Schema = {
  type: "array",
  items: { type: "string", pattern: "^[!#-\\[\\]-~]{1,256}$" },
  minItems: 1,
  maxItems: 50,
  uniqueItems: true,
  description: "the scopes of the key, such as skills:read, skills:write and admin",
};
const WORKSPACE = text("the workspace whose skills it can use", { min: 1, max: 256 });

const PROPERTIES: Readonly<Record<string, Schema>> = {
  id: text("the id"),
  name: text("what the key is for"),
  workspace: WORKSPACE,
  scopes: { type: "array", items: { type: "string" } },
  created: time("when it was added"),
};
const KEY_OBJECT = object(PROPERTIES);

/** The path of a key. */
export interface KeyPath {
  readonly key: string;
}

export const listKeys: AdminOperation<PageQuery, Page<AdminKey>> = {
  name: "listKeys",
  method: "GET",
  path: "/keys",
  summary: "List API keys",
  input: pageInput(),
  output: pageOf(KEY_OBJECT),
  async run({ store }, query) {
    const read = ({ value }: Entry<ApiKey>) => toAdminKey(value);
    const isFound = createSearch<AdminKey>(
      query.search,
      ({ id, name, workspace, scopes }) => [id, name, workspace, ...scopes],
    );
    return await listPage(store, [{ prefix: ["api_key"], read }], query, isFound);
  },
};

export const addKey: AdminOperation<ApiKeyRequest, AdminKey & Secret> = {
  name: "addKey",
  method: "POST",
  path: "/keys",
  summary: "Add an API key, for skills:read and skills:write when no scopes are named",
  input: input({ name: NAME, workspace: WORKSPACE, scopes: SCOPES }, ["name"]),
  output: object({ ...PROPERTIES, secret: SECRET }),
  isSecret: true,
  subject: (_, { id }) => id,
  async run(context, request) {
    checkScopes(context, request.scopes);
    const { key, secret } = await createApiKey(context.store, request);
    return { ...toAdminKey(key), secret };
  },
};

export const showKey: AdminOperation<KeyPath, AdminKey> = {
  name: "showKey",
  method: "GET",
  path: "/keys/:key",
  summary: "Show an API key, without its secret",
  input: input({ key: KEY }, ["key"]),
  output: KEY_OBJECT,
  async run({ store }, { key }) {
    const found = await findApiKey(store, key);
    if (!found) throw notFound("API key", key);
    return toAdminKey(found);
  },
};

export const updateKey: AdminOperation<KeyPath & ApiKeyChanges, AdminKey> = {
  name: "updateKey",
  method: "PATCH",
  path: "/keys/:key",
  summary: "Change the name or the scopes of an API key; its secret stays",
  input: input({ key: KEY, name: NAME, scopes: SCOPES }, ["key"]),
  output: KEY_OBJECT,
  subject: ({ key }) => key,
  async run(context, { key, ...changes }) {
    checkScopes(context, changes.scopes);
    if (key === context.actor && changes.scopes && !changes.scopes.includes("admin")) {
      throw new AdminError("conflict_error", "An API key cannot remove its own scope admin: use another one");
    }
    const changed = await updateApiKey(context.store, key, changes);
    if (!changed) throw notFound("API key", key);
    return toAdminKey(changed);
  },
};

export const removeKey: AdminOperation<KeyPath, void> = {
  name: "removeKey",
  method: "DELETE",
  path: "/keys/:key",
  summary: "Remove an API key",
  input: input({ key: KEY }, ["key"]),
  output: undefined,
  subject: ({ key }) => key,
  async run({ store, actor }, { key }) {
    if (key === actor) {
      throw new AdminError("conflict_error", "An API key cannot remove itself: use another one");
    }
    if (!await removeApiKey(store, key)) throw notFound("API key", key);
  },
};

/** The operations of this file. */
export const KEY_OPERATIONS: readonly AdminOperation[] = [
  listKeys,
  addKey,
  showKey,
  updateKey,
  removeKey,
];

function toAdminKey({ id, name, workspace, scopes, created }: ApiKey): AdminKey {
  return { id, name, workspace, scopes, created: toIso(created) };
}
