/**
 * Where the operations of administration run: on a store, or on a server over HTTP. Commands see no difference.
 *
 * @module
 */
import {
  type AdminContext,
  AdminError,
  type AdminOperation,
  COMMAND_LINE,
} from "../../../admin/operation.ts";
import { callOperation } from "../../../admin/operations.ts";
import type { Observe, TrivetEvent } from "../../../events.ts";
import { createConfiguredFetch } from "../../../http/network/public_fetch.ts";
import { createRemoteDocuments } from "../../../oauth/clients/remote_document.ts";
import { createProviderDirectory } from "../../../oauth/sign_in/provider_directory.ts";
import type { ProviderAccess } from "../../../oauth/sign_in/provider_tokens.ts";
import { createAudit } from "../../../observability/audit.ts";
import { serverSecret } from "../../../server_secret.ts";
import { type Store, timeOf } from "../../../store/store.ts";
import { type ApiServer, connectApi } from "../api/api_connection.ts";
import { ApiError, NotSentError } from "../api/api_error.ts";
import { openStore, type Place } from "../data.ts";
import { printError } from "../output.ts";

/** The greatest answer of an identity provider. */
const MAX_PROVIDER_ANSWER_BYTES = 256 * 1024;

/** An input whose optional members can also be `undefined`. */
export type Loose<Input> = {
  readonly [Name in keyof Input]: object extends Pick<Input, Name> ? Input[Name] | undefined : Input[Name];
};

/** Calls an operation. Members of the input that are `undefined` are left out. @throws {Error} when it is refused */
export type CallOperation = <Input extends object, Output>(
  operation: AdminOperation<Input, Output>,
  input: Loose<NoInfer<Input>>,
) => Promise<Output>;

export interface AdminTarget {
  readonly call: CallOperation;
  close(): Promise<void>;
}

/** Whether an operation was refused because what it names does not exist. */
export function isNotFound(error: unknown): error is Error {
  return (error instanceof AdminError || error instanceof ApiError) && error.status === 404;
}

/**
 * Opens a store, which must exist. Changes are written into its audit trail, since no server sees them.
 * @param issuer the beginning of links and redirect URIs
 */
export async function openStoreTarget(place: Place, issuer: string = "ISSUER"): Promise<AdminTarget> {
  const store = await openStore(place);
  const audit = createAudit({ store });
  const observe = (event: TrivetEvent): void => {
    audit.add(event);
    if ("reason" in event) printError(`${event.type}: ${event.reason}`);
  };
  const now = (): number => timeOf(store);
  const providers = openProviders(store, now, observe);
  const context: AdminContext = { store, now, observe, actor: COMMAND_LINE, issuer, providers };
  return {
    call: ({ name }, input) => callOperation(context, name, withoutUndefined(input)) as Promise<never>,
    async close() {
      try {
        await audit.close();
      } finally {
        await store.close();
      }
    },
  };
}

/** The identity providers in the store, and how they are reached. */
export function openProviders(store: Store, now: () => number, observe: Observe): ProviderAccess {
  const secret = serverSecret(store);
  const connect = (url: string, init: RequestInit) => fetch(url, init);
  const providerFetch = createConfiguredFetch({ connect, limit: MAX_PROVIDER_ANSWER_BYTES });
  return {
    store,
    secret,
    now,
    observe,
    providers: createProviderDirectory({ signIn: [], storedProviders: true, store, secret }),
    providerFetch,
    providerDocuments: createRemoteDocuments(providerFetch, now),
  };
}

/** Connects to a server, which does the same with the rights of the API key or the access token. */
export function openServerTarget(server: ApiServer, signal: AbortSignal): AdminTarget {
  const api = connectApi(server, signal);
  return {
    async call({ method, path }, input) {
      const { target, rest } = toRequest(path, withoutUndefined(input));
      const isBody = method === "POST" || method === "PATCH";
      const query = isBody ? "" : toQuery(rest);
      try {
        return await api.send(
          method,
          `/admin${target}${query}`,
          isBody ? { json: rest } : undefined,
        ) as never;
      } catch (error) {
        throw explain(error, method);
      }
    },
    close: () => Promise.resolve(),
  };
}

/** Adds what a person must know besides the message. */
function explain(error: unknown, method: string): unknown {
  if (error instanceof ApiError && error.status === 404 && error.type === undefined) {
    return new Error(
      `${error.message}\nThis server has no administration: check --url, and serve --no-admin`,
      {
        cause: error,
      },
    );
  }
  const isRefused = error instanceof NotSentError || error instanceof ApiError && error.status < 500;
  if (isRefused || method === "GET") return error;
  const message = error instanceof Error ? error.message : String(error);
  return new Error(`${message}\nThe change may have been made: check before you try again`, { cause: error });
}

function withoutUndefined(input: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
}

/** The path with its parameters filled in, and the other members of the input. */
function toRequest(
  path: string,
  input: Readonly<Record<string, unknown>>,
): { target: string; rest: Record<string, unknown> } {
  const rest = { ...input };
  const target = path.replace(/:(\w+)/g, (_, name: string) => {
    const value = String(rest[name]).toWellFormed();
    delete rest[name];
    // Such a segment names another path.
    if (/^\.{0,2}$/.test(value)) throw new Error(`Not found: ${JSON.stringify(value)}`);
    return encodeURIComponent(value);
  });
  return { target, rest };
}

function toQuery(members: Readonly<Record<string, unknown>>): string {
  const pairs = Object.entries(members).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((each) => [name, String(each)])
  );
  return pairs.length === 0 ? "" : `?${new URLSearchParams(pairs)}`;
}
