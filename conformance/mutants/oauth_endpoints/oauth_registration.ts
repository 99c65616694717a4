/**
 * Faults of registration: what is said of a client that registered itself, and what is taken from it.
 *
 * @module
 */
import { at, faultyAnswers, faultyJson, REGISTER, withFields } from "../message.ts";
import type { Mutant, Wrap } from "../mutant.ts";

const names = (...ids: string[]): string[] => ids.map((id) => `oauth/registration/${id}`);

/** The suites of which each vector registers a client. */
const REGISTERED = ["oauth/registration/", "oauth/clients/", "oauth/client_management/"];

type Members = Record<string, unknown>;

/** Says some members of what was registered otherwise; `undefined` leaves them out. */
const told = (change: (said: Members, asked: Members) => Members): Wrap =>
  at(REGISTER, (next) => async (request) => {
    const asked = await readJson(request);
    const say = faultyJson(REGISTER, (said) => {
      if ("client_id" in said) Object.assign(said, change(said, asked));
    });
    return await say(next)(request);
  });

/** Registers nobody whose description the fault does not like. */
const refused = (dislikes: (asked: Members, text: string) => boolean, status = 400): Wrap =>
  at(REGISTER, (next) => async (request) => {
    const text = await request.clone().text();
    if (!dislikes(await readJson(request), text)) return await next(request);
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
    wrap: faultyAnswers(
      REGISTER,
      (answer) => answer.status === 201 ? withFields(answer, {}, 200) : answer,
    ),
    breaks: names("registered", "open"),
    mayBreak: {
      "Each says that its client was registered": REGISTERED,
      "It registers a client first": ["oauth/introspection/of-a-stranger"],
      "It knows the answers of a right server": ["oauth/metadata/registration"],
    },
  },
  {
    name: "oauth/registration-not-there",
    fault: "Names an endpoint for registration that it has not",
    wrap: at(REGISTER, () => () => Promise.resolve(new Response(null, { status: 404 }))),
    breaks: [...names("registered", "open"), "oauth/metadata/registration"],
    mayBreak: {
      "Nobody is registered, and nobody is refused in words": REGISTERED,
      "It registers a client first": ["oauth/introspection/of-a-stranger"],
    },
    stops: "They ask what a client may do that has registered",
  },
  {
    name: "oauth/registered-with-more-grants",
    fault: "Gives the refresh grant to clients that did not ask for it",
    wrap: told(({ grant_types }) => ({ grant_types: [...grant_types as string[], "refresh_token"] })),
    breaks: names("defaults", "all-told"),
    mayBreak: { "They compare the list whole": names("prototype", "unknown-grant") },
  },
  {
    name: "oauth/registered-nameless",
    fault: "Does not tell the name that was registered",
    wrap: told(() => ({ client_name: undefined })),
    breaks: names("all-told"),
    mayBreak: { "They compare the name": [...names("statement"), "oauth/client_management/registered"] },
  },
  {
    name: "oauth/registered-without-scope",
    fault: "Does not tell the scope that was registered",
    wrap: told(() => ({ scope: undefined })),
    breaks: names("scope-told"),
  },
  {
    name: "oauth/registered-without-expiry",
    fault: "Does not tell when a secret expires",
    wrap: told(() => ({ client_secret_expires_at: undefined })),
    breaks: names("secret-expiry"),
  },
  {
    name: "oauth/registered-in-milliseconds",
    fault: "Tells in milliseconds when the id was made",
    wrap: told(({ client_id_issued_at: seconds }) => ({ client_id_issued_at: Number(seconds) * 1000 })),
    breaks: names("issued-at"),
  },
  {
    name: "oauth/registered-cached",
    fault: "Lets caches keep secrets of those who register",
    wrap: faultyAnswers(REGISTER, (answer) => withFields(answer, { "cache-control": "public, max-age=60" })),
    breaks: names("not-cached"),
  },
  {
    name: "oauth/registered-by-wish",
    fault: "Lets clients choose their id and secret",
    wrap: told((said, asked) => ({
      client_id: asked["client_id"] ?? said["client_id"],
      client_secret: asked["client_secret"] ?? said["client_secret"],
    })),
    breaks: names("id-not-chosen", "id-of-another-not-taken"),
  },
  {
    name: "oauth/registered-only-known-members",
    fault: "Refuses members that it does not know",
    wrap: refused((asked) => Object.keys(asked).some((name) => !KNOWN.test(name))),
    breaks: names("unknown-members", "unknown-members-not-registered", "languages"),
  },
  {
    name: "oauth/registered-as-sent",
    fault: "Tells everything that was sent as registered",
    wrap: told((said, asked) => ({ ...asked, ...said })),
    breaks: names("unknown-members-not-registered"),
  },
  {
    name: "oauth/registered-by-prototype",
    fault: "Copies members out of __proto__",
    wrap: at(REGISTER, (next) => async (request) => {
      const asked = await readJson(request);
      const inherited = Object.hasOwn(asked, "__proto__") ? asked["__proto__"] as Members : {};
      return await faultyJson(REGISTER, (said) => void Object.assign(said, inherited))(next)(request);
    }),
    breaks: names("prototype"),
  },
  {
    name: "oauth/registered-without-languages",
    fault: "Refuses names in other languages",
    wrap: refused((asked) => Object.keys(asked).some((name) => name.includes("#"))),
    breaks: names("languages"),
  },
  {
    name: "oauth/registered-private-key",
    fault: "Takes private keys, and shows them",
    wrap: at(REGISTER, (next) => async (request) => {
      const { jwks } = await readJson(request);
      const answer = await next(request);
      const isPrivate = JSON.stringify(jwks ?? "").includes('"d":');
      return isPrivate ? Response.json({ client_id: crypto.randomUUID(), jwks }, { status: 201 }) : answer;
    }),
    breaks: names("keys-private"),
  },
  {
    name: "oauth/registered-by-statement",
    fault: "Believes software statements that nobody it trusts has signed",
    wrap: at(REGISTER, (next) => async (request) => {
      const { software_statement: statement, ...asked } = await readJson(request);
      if (statement === undefined) return await next(request);
      const headers = { "content-type": "application/json" };
      const bare = new Request(request.url, { method: "POST", headers, body: JSON.stringify(asked) });
      const { iss: _, ...stated } = claimsOf(statement);
      return await faultyJson(REGISTER, (said) => void Object.assign(said, stated))(next)(bare);
    }),
    breaks: names("statement", "statement-of-a-stranger"),
  },
  {
    name: "oauth/registered-by-get",
    fault: "Registers a client for GET",
    wrap: at(
      REGISTER,
      (next) => async (request) =>
        request.method === "GET"
          ? Response.json({ client_id: crypto.randomUUID() }, { status: 201 })
          : await next(request),
    ),
    breaks: names("get"),
  },
  {
    name: "oauth/registered-without-loopback",
    fault: "Refuses plain http on loopback",
    wrap: refused((asked) => JSON.stringify(asked["redirect_uris"] ?? "").includes("http://127.0.0.1")),
    breaks: names("uri-loopback"),
  },
  {
    name: "oauth/registered-with-user",
    fault: "Registers redirect URIs that name a user and a password",
    wrap: at(REGISTER, (next) => async (request) => {
      const asked = await readJson(request);
      const namesUser = /"https:\/\/[^/"]*@/.test(JSON.stringify(asked["redirect_uris"] ?? ""));
      return namesUser
        ? Response.json({ ...asked, client_id: crypto.randomUUID() }, { status: 201 })
        : await next(request);
    }),
    breaks: names("uri-userinfo"),
  },
  {
    name: "oauth/registered-fault-on-many",
    fault: "Fails on more redirect URIs than it thought of",
    wrap: refused((_, text) => text.length > 100_000, 500),
    breaks: names("of-10000-uris"),
  },
];
