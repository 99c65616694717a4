/**
 * Faults in the device authorization grant (RFC 8628).
 *
 * Long because each parameter and each answer of the endpoint has its fault.
 *
 * @module
 */
import { acceptRefused, combine, issueRefusedTokens, type Refused } from "../accept_refused.ts";
import {
  changeForms,
  changeJson,
  changeResponses,
  onPath,
  readForm,
  TOKEN,
  withBody,
  withForm,
} from "../http_faults.ts";
import type { Mutant, Wrap } from "../mutant.ts";
import { CLIENTS } from "../registered_clients.ts";
import { resembling } from "../resembling.ts";

const DEVICE = "/oauth/device_authorization";
const PAGE = "/device";
const METADATA = "/.well-known/oauth-authorization-server";
const GRANT = "urn:ietf:params:oauth:grant-type:device_code";
const names = (...ids: string[]): string[] => ids.map((id) => `oauth/device/${id}`);
const ALL = { "They request codes first": ["oauth/device/"] };

const codesResponse = (): Response =>
  Response.json({
    device_code: "a code that should not have been given",
    user_code: "AAAA-AAAA",
    verification_uri: "https://trivet.example/device",
    expires_in: 600,
  });
const issueCodes = (isAccepted: (refused: Refused) => boolean): Wrap =>
  acceptRefused(DEVICE, isAccepted, codesResponse);
/** Issues tokens for refused device codes that match. */
const issueTokens = (isAccepted: (refused: Refused) => boolean): Wrap =>
  issueRefusedTokens((refused) => refused.form.get("grant_type") === GRANT && isAccepted(refused));

/** Changes members of the device authorization response. */
const changeCodesResponse = (change: (json: Record<string, unknown>) => void): Wrap =>
  changeJson(DEVICE, (json) => "device_code" in json && change(json));

/** Replaces an error code. */
const replaceError = (from: string, to: string): Wrap =>
  changeJson(TOKEN, (json) => json["error"] === from && (json["error"] = to));

export const DEVICES: readonly Mutant[] = [
  {
    name: "oauth/device-without-authentication",
    fault: "Issues codes to clients that did not authenticate",
    wrap: issueCodes(({ error }) => error === "invalid_client" || error === "invalid_request"),
    killedBy: names("no-client", "unknown-client", "secret-missing", "wrong-secret"),
    mayFail: {
      "They send values that resemble the right ones": resembling("client-id-of-a-device"),
      "They expect a refusal": names("repeated-client", "repeated-scope"),
    },
  },
  {
    name: "oauth/device-for-every-client",
    fault: "Issues codes to clients that may not use the grant",
    wrap: issueCodes(({ error }) => error === "unauthorized_client"),
    killedBy: names("not-allowed-the-grant"),
  },
  {
    name: "oauth/device-repeated",
    fault: "Reads the first of repeated parameters",
    wrap: changeForms(DEVICE, (form) => {
      for (const name of new Set(form.keys())) form.set(name, form.get(name)!);
    }),
    killedBy: names("repeated-client", "repeated-scope"),
  },
  {
    name: "oauth/device-by-get",
    fault: "Issues codes to GET",
    wrap: onPath(
      DEVICE,
      (next) => async (request) =>
        await next(request.method === "GET" ? withForm(request, new URL(request.url).searchParams) : request),
    ),
    killedBy: names("get"),
  },
  {
    name: "oauth/device-unknown-parameter-refused",
    fault: "Refuses unknown parameters",
    wrap: onPath(
      DEVICE,
      (next) => async (request) =>
        (await readForm(request))?.has("x_unknown")
          ? Response.json({ error: "invalid_request" }, { status: 400 })
          : await next(request),
    ),
    killedBy: names("unknown-parameter"),
  },
  {
    name: "oauth/device-empty-scope",
    fault: "Refuses an empty scope",
    wrap: onPath(
      DEVICE,
      (next) => async (request) =>
        (await readForm(request))?.get("scope") === ""
          ? Response.json({ error: "invalid_scope" }, { status: 400 })
          : await next(request),
    ),
    killedBy: names("empty-scope"),
  },
  {
    name: "oauth/device-lifetime-omitted",
    fault: "Leaves expires_in out of the response",
    wrap: changeCodesResponse((json) => delete json["expires_in"]),
    killedBy: names("answer"),
    mayFail: { "They wait for expires_in": names("expired", "expired-though-allowed") },
  },
  {
    name: "oauth/device-interval-as-string",
    fault: "Returns interval as a string",
    wrap: changeCodesResponse((json) => json["interval"] = `${json["interval"]} seconds`),
    killedBy: names("interval"),
  },
  {
    name: "oauth/device-code-in-verification-uri",
    fault: "Writes the user code into verification_uri",
    wrap: changeCodesResponse((json) => json["verification_uri"] = json["verification_uri_complete"]),
    killedBy: names("code-not-in-the-address"),
  },
  {
    name: "oauth/device-short-codes",
    fault: "Issues user codes of four letters",
    wrap: changeCodesResponse((json) => json["user_code"] = String(json["user_code"]).slice(0, 4)),
    killedBy: names("codes-differ"),
    mayFail: { "They enter the code": ["oauth/device/"] },
    preventsSetup: "No device waits for so short a code",
  },
  {
    name: "oauth/device-code-not-shown",
    fault: "Does not show the user code at verification_uri_complete",
    wrap: changeResponses(
      PAGE,
      async (answer, request) => {
        const code = new URL(request.url).searchParams.get("user_code");
        if (request.method !== "GET" || !code) return answer;
        return withBody(answer, (await answer.clone().text()).replaceAll(code, ""));
      },
    ),
    killedBy: names("complete-address-shows-the-code"),
  },
  {
    name: "oauth/device-allowed-by-link",
    fault: "Treats a visit to verification_uri_complete as consent",
    wrap: (next) => {
      let isAllowed = false;
      return combine(
        onPath(PAGE, (inner) => async (request) => {
          isAllowed = request.method === "GET" && request.headers.has("cookie");
          return await inner(request);
        }),
        issueTokens(({ error }) => isAllowed && error === "authorization_pending"),
      )(next);
    },
    killedBy: names("address-allows-nothing"),
    mayFail: { "They share the state of the fault": ["oauth/device/"] },
  },
  {
    name: "oauth/device-never-pending",
    fault: "Issues tokens before the user has decided",
    wrap: issueTokens(({ error }) => error === "authorization_pending"),
    killedBy: names("pending", "pending-after-login", "address-allows-nothing", "slow-down"),
    mayFail: {
      "They check what caches may keep": ["oauth/caching/device-pending"],
      "The device polls before the user has decided": ["oauth/device/"],
    },
  },
  {
    name: "oauth/device-pending-as-invalid-grant",
    fault: "Returns invalid_grant in place of authorization_pending",
    wrap: replaceError("authorization_pending", "invalid_grant"),
    killedBy: names("pending", "pending-after-login", "slow-down", "waits-then-allowed"),
    mayFail: { "The device polls while the request is pending": ["oauth/device/"] },
  },
  {
    name: "oauth/device-never-slow",
    fault: "Never returns slow_down",
    wrap: replaceError("slow_down", "authorization_pending"),
    killedBy: names("slow-down"),
    mayFail: { "It accepts either error": names("denied-stays-denied") },
  },
  {
    name: "oauth/device-always-slow",
    fault: "Returns slow_down to every poll after the first",
    wrap: (next) => {
      const fast = new Map<string, number>();
      return onPath(TOKEN, (inner) => async (request) => {
        const code = (await readForm(request))?.get("device_code") ?? "";
        fast.set(code, (fast.get(code) ?? 0) + 1);
        return code !== "" && fast.get(code)! > 1
          ? Response.json({ error: "slow_down" }, { status: 400 })
          : await inner(request);
      })(next);
    },
    killedBy: names("waits-then-allowed"),
    mayFail: { "The device polls twice": ["oauth/device/"] },
  },
  {
    name: "oauth/device-denial-ignored",
    fault: "Issues tokens although the user denied the request",
    wrap: issueTokens(({ error }) => error === "access_denied"),
    killedBy: names("denied", "denied-stays-denied"),
  },
  {
    name: "oauth/device-code-never-expires",
    fault: "Accepts expired device codes",
    wrap: issueTokens(({ error }) => error === "expired_token"),
    killedBy: names("expired", "expired-though-allowed"),
  },
  {
    name: "oauth/device-code-missing",
    fault: "Issues tokens without a device_code",
    wrap: issueTokens(({ form }) => !form.get("device_code")),
    killedBy: names("code-missing", "code-empty"),
  },
  {
    name: "oauth/device-code-unknown",
    fault: "Issues tokens for unknown device codes",
    wrap: issueTokens(({ error, form }) => error === "invalid_grant" && !!form.get("device_code")),
    killedBy: names("code-unknown", "user-code-is-no-device-code", "code-of-another"),
    mayFail: {
      "They check what caches may keep": ["oauth/caching/refused-device"],
      "They send values that resemble the right ones": resembling("device-code"),
      "They poll a code again": ["oauth/device/"],
    },
  },
  {
    name: "oauth/device-code-of-any-client",
    fault: "Issues tokens to a client that did not request the device code",
    wrap: onPath(TOKEN, (next) => async (request) => {
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
    killedBy: names("code-of-another", "no-client-at-the-token-endpoint"),
    mayFail: { "The extra polls of the fault cause slow_down": ["oauth/device/"] },
  },
  {
    name: "oauth/device-token-without-secret",
    fault: "Does not authenticate clients that redeem a device code",
    wrap: issueTokens(({ error }) => error === "invalid_client"),
    killedBy: names("with-a-secret", "no-client-at-the-token-endpoint"),
    mayFail: { "It sends another client's id without a secret": names("code-of-another") },
  },
  {
    name: "oauth/device-short-grant",
    fault: "Accepts a short name of the grant type",
    wrap: changeForms(
      TOKEN,
      (form) => form.get("grant_type") === "device_code" && form.set("grant_type", GRANT),
    ),
    killedBy: names("short-grant-type"),
  },
  {
    name: "oauth/device-code-as-code",
    fault: "Accepts a device code as an authorization code",
    wrap: changeForms(TOKEN, (form) => {
      if (!form.get("code")?.startsWith("trivet_dc_")) return;
      form.set("device_code", form.get("code")!);
      form.set("grant_type", GRANT);
    }),
    killedBy: names("code-by-the-code-grant"),
  },
  {
    name: "oauth/device-token-type-omitted",
    fault: "Leaves token_type out of the token response",
    wrap: (next) =>
      onPath(TOKEN, (inner) => async (request) => {
        const form = await readForm(request);
        const answer = await inner(request);
        if (answer.status !== 200 || form?.get("grant_type") !== GRANT) return answer;
        const { token_type: _, ...rest } = await answer.json();
        return Response.json({ ...rest, access_token: "x" });
      })(next),
    killedBy: names("allowed", "token-works", "waits-then-allowed"),
    mayFail: {
      "They check what caches may keep": ["oauth/caching/device-token"],
      "They expect a token": ["oauth/device/"],
    },
  },
  {
    name: "oauth/device-not-in-metadata",
    fault: "Leaves the grant type out of the metadata",
    wrap: changeJson(METADATA, (json) => {
      json["grant_types_supported"] = (json["grant_types_supported"] as string[]).filter((each) =>
        each !== GRANT
      );
    }),
    killedBy: names("metadata"),
    mayFail: { "They check all values": ["oauth/metadata/"] },
  },
  {
    name: "oauth/device-codes-equal",
    fault: "Issues the same device code to every device",
    wrap: changeCodesResponse((json) => json["device_code"] = "the-only-device-code"),
    killedBy: names("codes-differ", "allowed"),
    mayFail: { ...ALL, "They check what caches may keep": ["oauth/caching/device-token"] },
  },
];
