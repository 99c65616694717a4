/**
 * What the user must do before an upstream executes a call: connect an account, or open a URL that the upstream names. The
 * user is sent there by elicitation where the client supports that.
 *
 * @module
 */
import { isObject } from "../../../json_schema/value.ts";
import type { CallContext } from "../../../mcp/context.ts";
import { ToolError } from "../../../mcp/definition/definition.ts";
import { McpError } from "../../../mcp_client/client.ts";
import { wait } from "../../../mcp_client/wait.ts";
import { ConnectionRequired } from "../../credentials/access.ts";
import { UpstreamFailure } from "../failure.ts";
import type { CallTarget } from "./call_target.ts";
import { isWebUrl } from "./relay_input.ts";

/** 2025-11-25, elicitation, URL elicitation required error. */
const URL_REQUIRED = -32042;
/** How long a call waits for a user who agreed to open the URL. */
const MAX_WAIT_MS = 120_000;
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 3_000;
const MAX_URLS = 10;

/** A page that the user must open. */
export interface RequiredUrl {
  readonly url: string;
  readonly message: string;
}

/**
 * Sends the user to the page where the upstream is connected, and waits until it is. The failed call has left its place.
 * @throws the error unless it is a {@linkcode ConnectionRequired}
 * @throws {ToolError} naming the page, when the client cannot open it or the user does not connect
 */
export async function connectUser(error: unknown, target: CallTarget, context: CallContext): Promise<void> {
  const required = findConnectionRequired(error);
  if (!required) throw error;
  const { name } = target;
  const { url } = required;
  if (!context.can("elicitation.url")) {
    throw new ToolError(`Connect "${name}" first: open ${url} and then try again.`);
  }
  const { action } = await context.elicit({
    mode: "url",
    key: `connect_${name}`,
    message: `Connect your account at "${name}" to continue`,
    url,
  });
  if (action !== "accept") throw new ToolError(`"${name}" is not connected: the user did not agree.`);
  const { signal } = context;
  let pause = FIRST_PAUSE_MS;
  for (let waited = 0; waited < MAX_WAIT_MS; waited += pause) {
    if (await target.isAuthorized(context.principal, signal)) return;
    await wait(pause, signal);
    pause = Math.min(MAX_PAUSE_MS, pause * 1.5);
  }
  throw new ToolError(`"${name}" is not connected yet: open ${url}, and then try again.`);
}

/** The error or its cause, when the user must connect the upstream. */
export function findConnectionRequired(error: unknown): ConnectionRequired | undefined {
  for (let each = error; each instanceof Error; each = each.cause) {
    if (each instanceof ConnectionRequired) return each;
  }
  return undefined;
}

/**
 * The pages that an upstream of 2025-11-25 requires; `undefined` for another error, and where the client itself knows this
 * error.
 * @throws {UpstreamFailure} for an address that is no page
 */
export function findRequiredUrls(
  error: unknown,
  { revision }: Pick<CallContext, "revision">,
): readonly RequiredUrl[] | undefined {
  if (!(error instanceof McpError) || error.code !== URL_REQUIRED) return undefined;
  const { elicitations } = isObject(error.data) ? error.data : {};
  const urls = (Array.isArray(elicitations) ? elicitations : []).flatMap((each): RequiredUrl[] => {
    const { url, message } = isObject(each) ? each : {};
    return typeof url === "string" ? [{ url, message: String(message ?? "Open this page to continue") }] : [];
  });
  if (!urls.every(({ url }) => isWebUrl(url))) {
    throw new UpstreamFailure(
      "requires an address that is no http or https URL. Report this to its operator.",
    );
  }
  return urls.length > 0 && revision !== "2025-11-25" ? urls.slice(0, MAX_URLS) : undefined;
}

/** Sends the user to the pages. @throws {ToolError} when the client cannot, or the user does not agree */
export async function openUrls(
  urls: readonly RequiredUrl[],
  { name, isNamed }: Pick<CallTarget, "name" | "isNamed">,
  context: CallContext,
): Promise<void> {
  if (!context.can("elicitation.url")) {
    const list = urls.map(({ url }) => url).join(" and ");
    throw new ToolError(`"${name}" requires that you open ${list} first. Then try again.`);
  }
  for (const [i, { url, message }] of urls.entries()) {
    const shown = isNamed ? `${name}: ${message}` : message;
    const { action } = await context.elicit({ mode: "url", key: `open_${i + 1}`, message: shown, url });
    if (action !== "accept") throw new ToolError(`"${name}" was not called: the user did not agree.`);
  }
}
