/**
 * Faults in dynamic client registration: the response, and which metadata is accepted.
 *
 * @module
 */
import { changeJson, changeResponses, onPath, REGISTER, withHeaders } from "../http_faults.ts";
import type { Mutant, Wrap } from "../mutant.ts";

const names = (...ids: string[]): string[] => ids.map((id) => `oauth/registration/${id}`);

/** Suites in which each vector registers a client. */
const REGISTRATION_SUITES = ["oauth/registration/", "oauth/clients/", "oauth/client_management/"];

type Members = Record<string, unknown>;

/** Replaces members of the response; `undefined` removes one. */
const changeRegistration = (change: (members: Members, requested: Members) => Members): Wrap =>
  onPath(REGISTER, (next) => async (request) => {
    const requested = await readJson(request);
    const changeMembers = changeJson(REGISTER, (members) => {
      if ("client_id" in members) Object.assign(members, change(members, requested));
    });
    return await changeMembers(next)(request);
  });

/** Refuses metadata that matches `isRefused`. */
const refuseMetadata = (isRefused: (requested: Members, text: string) => boolean, status = 400): Wrap =>
  onPath(REGISTER, (next) => async (request) => {
    const text = await request.clone().text();
    if (!isRefused(await readJson(request), text)) return await next(request);
    return Response.json({ error: "invalid_client_metadata" }, { status });
  });

async function readJson(request: Request): Promise<Members> {
  if (!request.headers.get("content-type")?.startsWith("application/json")) return {};
  try {
    const json: unknown = JSON.parse(await request.clone().text());
    return typeof json === "object" && json !== null ? json as Members : {};
  } catch {
    return {};
  }
}

const claimsOf = (token: unknown): Members =>
  JSON.parse(atob(String(token).split(".")[1]!.replaceAll("-", "+").replaceAll("_", "/")));

const KNOWN =
  /^(redirect_uris|token_endpoint_auth_method|grant_types|response_types|client_(name|uri)|logo_uri|scope|contacts|tos_uri|policy_uri|jwks(_uri)?|software_(id|version|statement)|application_type|client_id|client_secret|require_\w+|dpop_\w+)$/;

export const REGISTRATION: readonly Mutant[] = [
  {
    name: "oauth/registered-with-200",
    fault: "Answers registrations with 200",
    wrap: changeResponses(
      REGISTER,
      (answer) => answer.status === 201 ? withHeaders(answer, {}, 200) : answer,
    ),
    killedBy: names("registered"),
  },
  {
    name: "oauth/registration-missing",
    fault: "Lists a registration endpoint that does not exist",
    wrap: onPath(REGISTER, () => () => Promise.resolve(new Response(null, { status: 404 }))),
    killedBy: [...names("registered", "open"), "oauth/metadata/registration"],
    mayFail: {
      "It registers a client": ["oauth/jarm/none-is-not-registered"],
      "No client can be registered": REGISTRATION_SUITES,
      "It registers a client first": ["oauth/introspection/of-a-stranger"],
    },
    preventsSetup: "They need a registered client",
  },
  {
    name: "oauth/registered-with-more-grants",
    fault: "Gives the refresh_token grant to clients that did not ask for it",
    wrap: changeRegistration(({ grant_types }) => ({
      grant_types: [...grant_types as string[], "refresh_token"],
    })),
    killedBy: names("defaults"),
  },
  {
    name: "oauth/registered-with-unknown-grant",
    fault: "Registers a grant type that it does not know",
    wrap: changeRegistration(({ grant_types }) => ({
      grant_types: [...grant_types as string[], "no_such_grant"],
    })),
    killedBy: names("unknown-grant"),
    mayFail: { "They compare the whole list": names("defaults", "all-told") },
  },
  {
    name: "oauth/registered-without-grants",
    fault: "Leaves grant_types out of the response",
    wrap: changeRegistration(() => ({ grant_types: undefined })),
    killedBy: names("all-told", "defaults"),
    mayFail: {
      "They compare the grants": names("prototype", "unknown-grant", "grant-without-response-type"),
    },
  },
  {
    name: "oauth/registered-without-scope",
    fault: "Leaves scope out of the response",
    wrap: changeRegistration(() => ({ scope: undefined })),
    killedBy: names("scope-told"),
  },
  {
    name: "oauth/registered-without-expiry",
    fault: "Leaves client_secret_expires_at out of the response",
    wrap: changeRegistration(() => ({ client_secret_expires_at: undefined })),
    killedBy: names("secret-expiry"),
  },
  {
    name: "oauth/registered-in-milliseconds",
    fault: "Returns client_id_issued_at in milliseconds",
    wrap: changeRegistration(({ client_id_issued_at: seconds }) => ({
      client_id_issued_at: Number(seconds) * 1000,
    })),
    killedBy: names("issued-at"),
  },
  {
    name: "oauth/registered-cached",
    fault: "Lets caches store registration responses",
    wrap: changeResponses(
      REGISTER,
      (answer) => withHeaders(answer, { "cache-control": "public, max-age=60" }),
    ),
    killedBy: names("not-cached"),
  },
  {
    name: "oauth/registered-chosen-credentials",
    fault: "Lets clients choose their id and secret",
    wrap: changeRegistration((members, requested) => ({
      client_id: requested["client_id"] ?? members["client_id"],
      client_secret: requested["client_secret"] ?? members["client_secret"],
    })),
    killedBy: names("id-not-chosen", "id-of-another-not-taken"),
  },
  {
    name: "oauth/registered-only-known-members",
    fault: "Refuses unknown members",
    wrap: refuseMetadata((requested) => Object.keys(requested).some((name) => !KNOWN.test(name))),
    killedBy: names("unknown-members", "unknown-members-not-registered", "languages"),
    mayFail: { "It registers a client": ["oauth/jarm/registered-algorithm"] },
  },
  {
    name: "oauth/registered-as-sent",
    fault: "Returns everything that was sent as registered",
    wrap: changeRegistration((members, requested) => ({ ...requested, ...members })),
    killedBy: names("unknown-members-not-registered"),
  },
  {
    name: "oauth/registered-by-prototype",
    fault: "Copies members out of __proto__",
    wrap: onPath(REGISTER, (next) => async (request) => {
      const requested = await readJson(request);
      const inherited = Object.hasOwn(requested, "__proto__") ? requested["__proto__"] as Members : {};
      return await changeJson(REGISTER, (members) => void Object.assign(members, inherited))(next)(request);
    }),
    killedBy: names("prototype"),
  },
  {
    name: "oauth/registered-without-languages",
    fault: "Refuses members with a language tag",
    wrap: refuseMetadata((requested) => Object.keys(requested).some((name) => name.includes("#"))),
    killedBy: names("languages"),
  },
  {
    name: "oauth/registered-private-key",
    fault: "Accepts private keys and returns them",
    wrap: onPath(REGISTER, (next) => async (request) => {
      const { jwks } = await readJson(request);
      const answer = await next(request);
      const isPrivate = JSON.stringify(jwks ?? "").includes('"d":');
      return isPrivate ? Response.json({ client_id: crypto.randomUUID(), jwks }, { status: 201 }) : answer;
    }),
    killedBy: names("keys-private"),
  },
  {
    name: "oauth/registered-by-statement",
    fault: "Applies software statements without checking their signature",
    wrap: onPath(REGISTER, (next) => async (request) => {
      const { software_statement: statement, ...requested } = await readJson(request);
      if (statement === undefined) return await next(request);
      const headers = { "content-type": "application/json" };
      const bare = new Request(request.url, { method: "POST", headers, body: JSON.stringify(requested) });
      const { iss: _, ...stated } = claimsOf(statement);
      return await changeJson(REGISTER, (members) => void Object.assign(members, stated))(next)(bare);
    }),
    killedBy: names("statement", "statement-of-a-stranger"),
  },
  {
    name: "oauth/registered-by-get",
    fault: "Registers a client by GET",
    wrap: onPath(
      REGISTER,
      (next) => async (request) =>
        request.method === "GET"
          ? Response.json({ client_id: crypto.randomUUID() }, { status: 201 })
          : await next(request),
    ),
    killedBy: names("get"),
  },
  {
    name: "oauth/registered-without-loopback",
    fault: "Refuses http redirect URIs on loopback",
    wrap: refuseMetadata((requested) =>
      JSON.stringify(requested["redirect_uris"] ?? "").includes("http://127.0.0.1")
    ),
    killedBy: names("uri-loopback"),
  },
  {
    name: "oauth/registered-with-userinfo",
    fault: "Accepts redirect URIs with user and password",
    wrap: onPath(REGISTER, (next) => async (request) => {
      const requested = await readJson(request);
      const namesUser = /"https:\/\/[^/"]*@/.test(JSON.stringify(requested["redirect_uris"] ?? ""));
      return namesUser
        ? Response.json({ ...requested, client_id: crypto.randomUUID() }, { status: 201 })
        : await next(request);
    }),
    killedBy: names("uri-userinfo"),
  },
  {
    name: "oauth/registered-fails-on-many",
    fault: "Fails on many redirect URIs",
    wrap: refuseMetadata((_, text) => text.length > 100_000, 500),
    killedBy: names("of-10000-uris"),
  },
];
