/**
 * Faults in responses that hold a secret: caches may keep them, or they hold another user's.
 *
 * @module
 */
import {
  changeResponses,
  DEVICE,
  LOGIN,
  onPath,
  pathOf,
  PUSH,
  readForm,
  REGISTER,
  RESOURCE,
  TOKEN,
  withBody,
  withHeaders,
} from "../http_faults.ts";
import type { Handler, Mutant, Wrap } from "../mutant.ts";

const caching = (...ids: string[]): string[] => ids.map((id) => `oauth/caching/${id}`);
const users = (...ids: string[]): string[] => ids.map((id) => `oauth/users/${id}`);

const letCache = (answer: Response): Response =>
  withHeaders(answer, { "cache-control": "private, max-age=60", pragma: undefined });

/** Lets caches keep responses of the token endpoint to requests that match. */
const letCacheTokens = (matches: (form: URLSearchParams, answer: Response) => boolean): Wrap =>
  onPath(TOKEN, (next) => async (request) => {
    const form = await readForm(request);
    const answer = await next(request);
    return form && matches(form, answer) ? letCache(answer) : answer;
  });

const isGrant = (form: URLSearchParams, name: string): boolean =>
  form.get("grant_type")?.endsWith(name) === true;

interface Owner {
  readonly user: string;
  /** The first cookie of the browser with which the user signed in. */
  readonly browser: string;
}

/** The resource takes a token for that of the first or last user of the browser, not of the one who allowed the client. */
function mixUsers(which: "first" | "last"): Wrap {
  const wrap = (next: Handler): Handler => {
    const browsers = new Map<string, string>();
    const signedIn = new Map<string, string>();
    const current = new Map<string, string>();
    const userCodes = new Map<string, string>();
    /** By code, user code, device code and token. */
    const owners = new Map<string, Owner>();
    const noteLogin = (browser: string, user: string, answer: Response): void => {
      const cookie = answer.headers.getSetCookie().map((each) => each.split(";")[0]).join("; ");
      const first = browser === "" ? cookie : browser;
      browsers.set(cookie, first);
      if (which === "last" || !signedIn.has(first)) signedIn.set(first, user);
      current.set(first, user);
    };
    const noteTokens = async (form: URLSearchParams | undefined, answer: Response): Promise<void> => {
      const [secret = ""] = ["code", "refresh_token", "subject_token", "device_code"].flatMap((name) =>
        form?.get(name) ?? []
      );
      const owner = owners.get(userCodes.get(secret) ?? secret);
      if (!owner) return;
      const json = await answer.clone().json();
      for (const name of ["access_token", "refresh_token"]) {
        if (typeof json[name] === "string") owners.set(json[name], owner);
      }
    };
    return async (request) => {
      const form = await readForm(request);
      const answer = await next(request);
      const cookie = request.headers.get("cookie") ?? "";
      const browser = browsers.get(cookie) ?? cookie;
      const owner = { user: current.get(browser) ?? "", browser };
      const name = form?.get("username");
      if (pathOf(request) === LOGIN && name && answer.status < 400) noteLogin(browser, name, answer);
      const code = URL.parse(answer.headers.get("location") ?? "", request.url)?.searchParams.get("code");
      if (code) owners.set(code, owner);
      const userCode = form?.get("user_code");
      if (userCode) owners.set(userCode, owner);
      if (pathOf(request) === DEVICE && answer.status === 200) {
        const { device_code, user_code } = await answer.clone().json();
        userCodes.set(device_code, user_code);
      }
      if (pathOf(request) === TOKEN && answer.status === 200) await noteTokens(form, answer);
      const token = /^Bearer (.+)$/.exec(request.headers.get("authorization") ?? "")?.[1] ?? "";
      const of = owners.get(token);
      if (pathOf(request) !== RESOURCE || !of) return answer;
      const body = await answer.clone().text();
      return withBody(answer, body.replaceAll(of.user, signedIn.get(of.browser) ?? of.user));
    };
  };
  return Object.assign(wrap, { path: RESOURCE });
}

export const SECRET_RESPONSES: readonly Mutant[] = [
  {
    name: "oauth/refresh-cacheable",
    fault: "Lets caches keep the answers to refreshes",
    wrap: letCacheTokens((form, answer) => isGrant(form, "refresh_token") && answer.status === 200),
    killedBy: caching("refreshed", "refreshed-for-less", "refreshed-with-a-secret"),
  },
  {
    name: "oauth/code-of-confidential-cacheable",
    fault: "Lets caches keep the answers to clients that authenticate by Basic",
    wrap: changeResponses(
      TOKEN,
      (answer, request) =>
        /^basic /i.test(request.headers.get("authorization") ?? "") ? letCache(answer) : answer,
    ),
    killedBy: caching(
      "exchanged",
      "redeemed-with-a-secret",
      "refreshed-with-a-secret",
      "refused-exchange",
      "refused-secret",
    ),
    mayFail: { "It authenticates by Basic": ["oauth/client_credentials/not-cached"] },
  },
  {
    name: "oauth/device-token-cacheable",
    fault: "Lets caches keep the answers to devices and to token exchanges",
    wrap: letCacheTokens((form) => isGrant(form, "device_code") || isGrant(form, "token-exchange")),
    killedBy: caching("device-pending", "device-token", "exchanged", "refused-device", "refused-exchange"),
  },
  {
    name: "oauth/refused-refresh-cacheable",
    fault: "Lets caches keep refused refreshes",
    wrap: letCacheTokens((form, answer) => isGrant(form, "refresh_token") && answer.status >= 400),
    killedBy: caching("refused-refresh"),
  },
  {
    name: "oauth/device-codes-cacheable",
    fault: "Lets caches keep the codes of a device",
    wrap: changeResponses(DEVICE, letCache),
    killedBy: caching("device-codes"),
  },
  {
    name: "oauth/pushed-cacheable",
    fault: "Lets caches keep the names of pushed requests",
    wrap: changeResponses(PUSH, letCache),
    killedBy: caching("pushed"),
  },
  {
    name: "oauth/registration-cacheable",
    fault: "Lets caches keep registrations that are read or updated",
    wrap: changeResponses(
      undefined,
      (answer, request) => pathOf(request).startsWith(`${REGISTER}/`) ? letCache(answer) : answer,
    ),
    killedBy: caching("registration-read", "registration-updated"),
  },
  {
    name: "oauth/users-last-of-browser",
    fault: "Takes tokens for those of the user who signed in last with the browser",
    wrap: mixUsers("last"),
    killedBy: users(
      "code-redeemed-after-another-allowed",
      "code-redeemed-after-another-got-a-token",
      "code-redeemed-after-another-signed-in",
      "device-after-another-signed-in",
      "exchanged-after-another-signed-in",
      "refreshed-after-another-got-a-token",
      "refreshed-after-another-signed-in",
      "token-after-another-got-one",
    ),
  },
  {
    name: "oauth/users-first-of-browser",
    fault: "Takes tokens for those of the user who signed in first with the browser",
    wrap: mixUsers("first"),
    killedBy: users("resource-read-before", "second-user-of-a-browser"),
  },
];
