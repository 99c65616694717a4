/**
 * The credentials of a request: those of the caller, by functions of the operator. A request of an operation without a
 * security requirement gets none.
 *
 * @module
 */
import type { Principal } from "../http/principal.ts";
import type { CallContext } from "../mcp/context.ts";
import { ToolError } from "../mcp/definition/definition.ts";
import type { Answer } from "./answer.ts";
import type { Operation } from "./operation.ts";
import { type Credentials, place, type Requirement } from "./security.ts";

/** The request for which credentials are asked. */
export interface ApiRequest {
  readonly operation: Operation;
  /** Without credentials. */
  readonly url: string;
  /** What the document says: alternatives of schemes that are needed together. */
  readonly security: readonly Requirement[];
  readonly signal: AbortSignal;
}

type HeaderFields = Readonly<Record<string, string>>;

/** The header fields that authorize a request of the caller. @throws {ToolError} with a message for the model */
export type Authorize = (
  caller: Principal | undefined,
  request: ApiRequest,
) => HeaderFields | Promise<HeaderFields>;

/** Credentials that are kept elsewhere, such as those of the gateway for each user. */
export interface ApiAccess {
  /** The header fields that authorize a request of the caller. */
  headers(caller: Principal | undefined, signal?: AbortSignal): Promise<HeaderFields>;
  /** After 401 or 403. `true`: the request is sent once more, with new `headers`. */
  refused?(
    caller: Principal | undefined,
    refusal: {
      readonly status: number;
      readonly challenge: string | null;
      readonly url: string;
      readonly used: HeaderFields;
    },
    signal?: AbortSignal,
  ): Promise<boolean>;
}

/** A credential: the key, the token, or `user:password`. `undefined`: the caller has none. */
export type Credential =
  | string
  | ((
    caller: Principal | undefined,
    request: ApiRequest,
  ) => string | undefined | Promise<string | undefined>);

export interface AccessOptions {
  readonly authorize: Authorize | ApiAccess | undefined;
  /** By the names of security schemes in the document. */
  readonly credentials: Readonly<Record<string, Credential>>;
}

/** @throws {TypeError} for values of other types, without the values, which may be secret */
export function checkAccess({ authorize, headers = {} }: {
  readonly authorize?: AccessOptions["authorize"];
  readonly headers?: HeaderFields;
}): void {
  const rule = (name: string, what: string) =>
    new TypeError(`Invalid options: "openApi.${name}" must be ${what}`);
  if (
    authorize !== undefined && typeof authorize !== "function" && typeof authorize?.headers !== "function"
  ) {
    throw rule("authorize", "a function, or an object with a function headers");
  }
  const values = typeof headers === "object" && headers !== null && Object.values(headers);
  if (!values || values.some((value) => typeof value !== "string")) {
    throw rule("headers", "an object of texts");
  }
}

/** The credentials of a request, and what `authorize` returned of them. */
export async function collectCredentials(
  { authorize, credentials }: AccessOptions,
  request: ApiRequest,
  context: CallContext,
): Promise<{ readonly credentials: Credentials; readonly used: HeaderFields }> {
  const found: Credentials = { headers: {}, query: [], cookies: [] };
  const { principal } = context;
  for (const requirement of request.security) {
    const values: string[] = [];
    for (const { name, place } of requirement) {
      const given = Object.hasOwn(credentials, name) ? credentials[name] : undefined;
      const value = typeof given === "function" ? await given(principal, request) : given;
      if (value === undefined && place !== "none") break;
      values.push(value ?? "");
    }
    if (values.length < requirement.length || requirement.length === 0) continue;
    requirement.forEach((scheme, at) => place(found, scheme, values[at]!));
    break;
  }
  if (!authorize) return { credentials: found, used: {} };
  const used = await askForConnection(
    context,
    async () =>
      typeof authorize === "function"
        ? await authorize(principal, request)
        : await authorize.headers(principal, request.signal),
  );
  for (const [name, value] of Object.entries(used)) found.headers[name.toLowerCase()] = value;
  return { credentials: found, used };
}

/** Whether the request should be sent once more, after the API refused its credentials. */
export async function handleRefusal(
  { authorize }: AccessOptions,
  request: ApiRequest,
  { status, headers }: Answer,
  used: HeaderFields,
  context: CallContext,
): Promise<boolean> {
  if (typeof authorize !== "object" || !authorize.refused) return false;
  const refusal = {
    status,
    challenge: headers.get("www-authenticate"),
    url: request.url,
    used,
  };
  return await askForConnection(
    context,
    async () => await authorize.refused!(context.principal, refusal, request.signal),
  );
}

/** Sends the user to the address at which the API is connected, when the credentials are not there yet. */
async function askForConnection<Value>(context: CallContext, run: () => Promise<Value>): Promise<Value> {
  const attempt = async (): Promise<{ readonly value: Value } | { readonly url: string }> => {
    try {
      return { value: await run() };
    } catch (error) {
      const url = connectionUrl(error);
      if (url === undefined) throw toToolError(error);
      return { url };
    }
  };
  let outcome = await attempt();
  if ("value" in outcome) return outcome.value;
  const { url } = outcome;
  const message = "Connect your account to continue";
  if (context.can("elicitation.url")) {
    const { action } = await context.elicit({ mode: "url", message, url, key: "connect" });
    if (action === "accept") outcome = await attempt();
    if ("value" in outcome) return outcome.value;
  }
  throw new ToolError(`${message}: open ${url} and call the tool again`);
}

/** Why the gateway has no credentials for the caller, for the model: `AccessDenied`, `AccessUnavailable`. */
function toToolError(error: unknown): unknown {
  const isKnown = error instanceof Error &&
    (error.name === "AccessDenied" || error.name === "AccessUnavailable");
  return isKnown ? new ToolError(error.message, { cause: error }) : error;
}

/** The gateway's `ConnectionRequired`, by its shape: this module does not depend on the gateway. */
function connectionUrl(error: unknown): string | undefined {
  if (!(error instanceof Error) || error.name !== "ConnectionRequired") return undefined;
  const { url } = error as { url?: unknown };
  return typeof url === "string" ? url : undefined;
}
