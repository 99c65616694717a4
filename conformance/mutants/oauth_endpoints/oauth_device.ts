/**
 * Faults of the device grant (RFC 8628).
 *
 * @module
 */
import { both, forgivenTokens, forgiving, type Refused } from "../forgiving.ts";
import {
  at,
  faultyAnswers,
  faultyForms,
  faultyJson,
  readForm,
  TOKEN,
  withBody,
  withForm,
} from "../message.ts";
import type { Mutant, Wrap } from "../mutant.ts";
import { CLIENTS } from "../registered.ts";

const DEVICE = "/oauth/device_authorization";
const PAGE = "/device";
const METADATA = "/.well-known/oauth-authorization-server";
const GRANT = "urn:ietf:params:oauth:grant-type:device_code";
const names = (...ids: string[]): string[] => ids.map((id) => `oauth/device/${id}`);
const ALL = { "they ask for codes first": ["oauth/device/"] };

const codes = (): Response =>
  Response.json({
    device_code: "a code that should not have been given",
    user_code: "AAAA-AAAA",
    verification_uri: "https://trivet.example/device",
    expires_in: 600,
  });
const given = (isForgiven: (refused: Refused) => boolean): Wrap => forgiving(DEVICE, isForgiven, codes);
/** A device that asks for its token and is refused. */
const forgiven = (isForgiven: (refused: Refused) => boolean): Wrap =>
  forgivenTokens((refused) => refused.form.get("grant_type") === GRANT && isForgiven(refused));

/** Answers of the endpoint with one member changed. */
const saying = (change: (json: Record<string, unknown>) => void): Wrap =>
  faultyJson(DEVICE, (json) => "device_code" in json && change(json));

/** Other errors than those of the document. */
const erring = (from: string, to: string): Wrap =>
  faultyJson(TOKEN, (json) => json["error"] === from && (json["error"] = to));

export const DEVICES: readonly Mutant[] = [
  {
    name: "oauth/device-for-anyone",
    fault: "Gives codes to clients that did not show who they are",
    wrap: given(({ error }) => error === "invalid_client" || error === "invalid_request"),
    breaks: names("no-client", "unknown-client", "secret-missing", "wrong-secret"),
    mayBreak: { "the request is refused": names("repeated-client", "repeated-scope") },
  },
  {
    name: "oauth/device-for-every-client",
    fault: "Gives codes to clients that may not use the grant",
    wrap: given(({ error }) => error === "unauthorized_client"),
    breaks: names("not-allowed-the-grant"),
  },
  {
    name: "oauth/device-repeated",
    fault: "Takes the first of parameters that come twice",
    wrap: faultyForms(DEVICE, (form) => {
      for (const name of new Set(form.keys())) form.set(name, form.get(name)!);
    }),
    breaks: names("repeated-client", "repeated-scope"),
  },
  {
    name: "oauth/device-by-get",
    fault: "Gives codes by GET",
    wrap: at(
      DEVICE,
      (next) => async (request) =>
        await next(request.method === "GET" ? withForm(request, new URL(request.url).searchParams) : request),
    ),
    breaks: names("get"),
  },
  {
    name: "oauth/device-knows-all-parameters",
    fault: "Refuses parameters that it does not know",
    wrap: at(
      DEVICE,
      (next) => async (request) =>
        (await readForm(request))?.has("x_unknown")
          ? Response.json({ error: "invalid_request" }, { status: 400 })
          : await next(request),
    ),
    breaks: names("unknown-parameter"),
  },
  {
    name: "oauth/device-empty-scope",
    fault: "Refuses an empty scope",
    wrap: at(
      DEVICE,
      (next) => async (request) =>
        (await readForm(request))?.get("scope") === ""
          ? Response.json({ error: "invalid_scope" }, { status: 400 })
          : await next(request),
    ),
    breaks: names("empty-scope"),
  },
  {
    name: "oauth/device-lifetime-left-out",
    fault: "Does not say how long codes live",
    wrap: saying((json) => delete json["expires_in"]),
    breaks: names("answer"),
    mayBreak: { "they wait so long": names("expired", "expired-though-allowed") },
  },
  {
    name: "oauth/device-interval-as-text",
    fault: "Tells the interval as text",
    wrap: saying((json) => json["interval"] = `${json["interval"]} seconds`),
    breaks: names("interval"),
  },
  {
    name: "oauth/device-code-in-address",
    fault: "Writes the user's code into verification_uri",
    wrap: saying((json) => json["verification_uri"] = json["verification_uri_complete"]),
    breaks: names("code-not-in-the-address"),
  },
  {
    name: "oauth/device-short-codes",
    fault: "Gives user codes of four letters",
    wrap: saying((json) => json["user_code"] = String(json["user_code"]).slice(0, 4)),
    breaks: names("codes-differ"),
    mayBreak: { "the code is typed": ["oauth/device/"] },
    stops: "nobody waits with so short a code",
  },
  {
    name: "oauth/device-code-not-shown",
    fault: "Shows no code at the complete address",
    wrap: faultyAnswers(
      PAGE,
      async (answer, request) =>
        request.method === "GET"
          ? withBody(answer, (await answer.clone().text()).replace(/value="[^"]*"/, ""))
          : answer,
    ),
    breaks: names("complete-address-shows-the-code"),
  },
  {
    name: "oauth/device-allowed-by-link",
    fault: "Takes the opening of the complete address for consent",
    wrap: (next) => {
      let isAllowed = false;
      return both(
        at(PAGE, (inner) => async (request) => {
          isAllowed = request.method === "GET" && request.headers.has("cookie");
          return await inner(request);
        }),
        forgiven(({ error }) => isAllowed && error === "authorization_pending"),
      )(next);
    },
    breaks: names("address-allows-nothing"),
    mayBreak: { "they share what it remembers": ["oauth/device/"] },
  },
  {
    name: "oauth/device-never-pending",
    fault: "Gives tokens though nobody has answered",
    wrap: forgiven(({ error }) => error === "authorization_pending"),
    breaks: names("pending", "pending-after-login", "address-allows-nothing", "slow-down"),
    mayBreak: { "the device asks before its user has answered": ["oauth/device/"] },
  },
  {
    name: "oauth/device-pending-unnamed",
    fault: "Calls a device that waits an invalid grant",
    wrap: erring("authorization_pending", "invalid_grant"),
    breaks: names("pending", "pending-after-login", "slow-down", "waits-then-allowed"),
    mayBreak: { "the device waits": ["oauth/device/"] },
  },
  {
    name: "oauth/device-never-slow",
    fault: "Lets devices ask as often as they like",
    wrap: erring("slow_down", "authorization_pending"),
    breaks: names("slow-down"),
    mayBreak: { "either is an answer": names("denied-stays-denied") },
  },
  {
    name: "oauth/device-slow-for-ever",
    fault: "Never forgives a device that asked too fast",
    wrap: (next) => {
      const fast = new Map<string, number>();
      return at(TOKEN, (inner) => async (request) => {
        const code = (await readForm(request))?.get("device_code") ?? "";
        fast.set(code, (fast.get(code) ?? 0) + 1);
        return code !== "" && fast.get(code)! > 1
          ? Response.json({ error: "slow_down" }, { status: 400 })
          : await inner(request);
      })(next);
    },
    breaks: names("waits-then-allowed"),
    mayBreak: { "the device asks twice": ["oauth/device/"] },
  },
  {
    name: "oauth/device-refusal-ignored",
    fault: "Gives tokens though the user refused",
    wrap: forgiven(({ error }) => error === "access_denied"),
    breaks: names("denied", "denied-stays-denied"),
  },
  {
    name: "oauth/device-for-ever",
    fault: "Takes codes after their time",
    wrap: forgiven(({ error }) => error === "expired_token"),
    breaks: names("expired", "expired-though-allowed"),
  },
  {
    name: "oauth/device-code-missing",
    fault: "Gives tokens without a device_code",
    wrap: forgiven(({ form }) => !form.get("device_code")),
    breaks: names("code-missing", "code-empty"),
  },
  {
    name: "oauth/device-code-unknown",
    fault: "Gives tokens for codes that nobody gave",
    wrap: forgiven(({ error, form }) => error === "invalid_grant" && !!form.get("device_code")),
    breaks: names("code-unknown", "user-code-is-no-device-code", "code-of-another"),
    mayBreak: { "a code is asked for again": ["oauth/device/"] },
  },
  {
    name: "oauth/device-code-of-anyone",
    fault: "Gives the token to whichever client asks",
    wrap: at(TOKEN, (next) => async (request) => {
      const form = await readForm(request);
      if (form?.get("grant_type") !== GRANT) return await next(request);
      let answer = await next(withForm(request, form));
      for (const { id } of CLIENTS.filter(({ secret }) => secret === undefined)) {
        if (answer.status === 200) break;
        form.set("client_id", id);
        const other = await next(withForm(request, form));
        if (other.status === 200) answer = other;
      }
      return answer;
    }),
    breaks: names("code-of-another", "no-client-at-the-token-endpoint"),
    mayBreak: { "asking for others is asking too fast": ["oauth/device/"] },
  },
  {
    name: "oauth/device-token-without-secret",
    fault: "Asks clients for no secret when they fetch their tokens",
    wrap: forgiven(({ error }) => error === "invalid_client"),
    breaks: names("with-a-secret", "no-client-at-the-token-endpoint"),
    mayBreak: { "another client shows nothing": names("code-of-another") },
  },
  {
    name: "oauth/device-short-grant",
    fault: "Takes a short name for the grant",
    wrap: faultyForms(
      TOKEN,
      (form) => form.get("grant_type") === "device_code" && form.set("grant_type", GRANT),
    ),
    breaks: names("short-grant-type"),
  },
  {
    name: "oauth/device-code-as-code",
    fault: "Takes a device_code for an authorization code",
    wrap: faultyForms(TOKEN, (form) => {
      if (!form.get("code")?.startsWith("trivet_dc_")) return;
      form.set("device_code", form.get("code")!);
      form.set("grant_type", GRANT);
    }),
    breaks: names("code-by-the-code-grant"),
  },
  {
    name: "oauth/device-token-of-no-type",
    fault: "Does not say of which type a device's token is",
    wrap: (next) =>
      at(TOKEN, (inner) => async (request) => {
        const form = await readForm(request);
        const answer = await inner(request);
        if (answer.status !== 200 || form?.get("grant_type") !== GRANT) return answer;
        const { token_type: _, ...rest } = await answer.json();
        return Response.json({ ...rest, access_token: "x" });
      })(next),
    breaks: names("allowed", "token-works", "waits-then-allowed"),
    mayBreak: { "a device gets its token": ["oauth/device/"] },
  },
  {
    name: "oauth/device-not-in-metadata",
    fault: "Does not say that it has the grant",
    wrap: faultyJson(METADATA, (json) => {
      json["grant_types_supported"] = (json["grant_types_supported"] as string[]).filter((each) =>
        each !== GRANT
      );
    }),
    breaks: names("metadata"),
    mayBreak: { "all values are looked at": ["oauth/metadata/"] },
  },
  {
    name: "oauth/device-codes-alike",
    fault: "Gives every device the same codes",
    wrap: saying((json) => json["device_code"] = "the-only-device-code"),
    breaks: names("codes-differ", "allowed"),
    mayBreak: ALL,
  },
];
