/**
 * Faults of clients that manage their registration (RFC 7592).
 *
 * @module
 */
import { both, keeping } from "../forgiving.ts";
import { REGISTER, withBody, withRequestFields } from "../message.ts";
import type { Handler, Mutant, Wrap } from "../mutant.ts";
import { readBasic } from "../registered.ts";

const names = (...ids: string[]): string[] => ids.map((id) => `oauth/client_management/${id}`);
const ALL = { "they are about one client": names("") };

type Members = Record<string, unknown>;

/** Requests to the address at which a client is managed. */
const managing = (wrap: (next: Handler) => Handler): Wrap => (next) => {
  const faulty = wrap(next);
  return async (request) =>
    await (new URL(request.url).pathname.startsWith(`${REGISTER}/`) ? faulty : next)(request);
};

const by = (method: string, wrap: (next: Handler) => Handler): Wrap =>
  managing((next) => {
    const faulty = wrap(next);
    return async (request) => await (request.method === method ? faulty : next)(request);
  });

/** Answers with JSON of the whole protocol, registration included. */
const saying = (change: (json: Members, request: Request) => void): Wrap => (next) => async (request) => {
  const answer = await next(request);
  if (!new URL(request.url).pathname.startsWith(REGISTER) || ![200, 201].includes(answer.status)) {
    return answer;
  }
  const json = await answer.json();
  change(json, request);
  return withBody(answer, JSON.stringify(json));
};

/** Changes what an update says before it is read. */
const updating = (change: (json: Members, id: string) => void): Wrap =>
  by("PUT", (next) => async (request) => {
    const json = await request.json();
    if (!Array.isArray(json)) change(json, new URL(request.url).pathname.split("/").at(-1)!);
    return await next(
      new Request(request.url, { method: "PUT", headers: request.headers, body: JSON.stringify(json) }),
    );
  });

/** The token of each client, so that none has to be shown. */
const knowing =
  (method: string, isForgiven: (status: number) => boolean = (status) => status === 401): Wrap => (next) => {
    const tokens = new Map<string, string>();
    return async (request) => {
      const id = new URL(request.url).pathname.split("/").at(-1)!;
      const answer = await next(request.clone() as Request);
      if (request.url.endsWith(REGISTER) && answer.status === 201) {
        const { client_id, registration_access_token } = await answer.clone().json();
        tokens.set(client_id, registration_access_token);
      }
      if (request.method !== method || !isForgiven(answer.status) || !tokens.has(id)) return answer;
      return await next(withRequestFields(request, { authorization: `Bearer ${tokens.get(id)}` }));
    };
  };

export const MANAGEMENT: readonly Mutant[] = [
  {
    name: "oauth/management-not-told",
    fault: "Does not say where a client is managed",
    wrap: saying((json) => delete json["registration_client_uri"]),
    breaks: names("registered", "read-tells-where"),
    mayBreak: { "nobody knows where to ask": [...names(""), "oauth/registration/"] },
    stops: "nobody knows where to ask",
  },
  {
    name: "oauth/management-few-tokens",
    fault: "Gives every client the same short token",
    wrap: saying((json) => json["registration_access_token"] = "secret"),
    breaks: names("tokens-differ"),
    mayBreak: ALL,
  },
  {
    name: "oauth/management-another-name",
    fault: "Tells another name than was registered",
    wrap: saying((json) => json["client_name"] = "Client"),
    breaks: names("registered", "read", "updated"),
    mayBreak: { "the name is looked at": [...names(""), "oauth/registration/"] },
  },
  {
    name: "oauth/management-new-id",
    fault: "Gives a client that is read another id",
    wrap: by("GET", (next) => saying((json) => json["client_id"] = "another")(next)),
    breaks: names("read"),
    mayBreak: { "they read the client": names("") },
  },
  {
    name: "oauth/management-read-by-anyone",
    fault: "Shows registrations to everybody",
    wrap: knowing("GET"),
    breaks: names(
      "read-without-token",
      "read-with-altered-token",
      "read-with-token-of-another",
      "read-with-secret",
      "token-in-query",
    ),
    mayBreak: { "they read without a good token": names("") },
  },
  {
    name: "oauth/management-unknown-told",
    fault: "Tells which clients there are",
    wrap: managing((next) => async (request) =>
      request.url.endsWith("x") ? new Response(null, { status: 404 }) : await next(request)
    ),
    breaks: names("unknown-client"),
    mayBreak: { "the id ends so by chance": names("") },
  },
  {
    name: "oauth/management-by-patch",
    fault: "Says that it patched a client",
    wrap: by("PATCH", () => () => Promise.resolve(Response.json({}))),
    breaks: names("patch"),
  },
  {
    name: "oauth/management-adds",
    fault: "Adds what an update says to what was there",
    wrap: (next) => {
      const uris = new Map<string, string[]>();
      return both(
        updating((json, id) =>
          json["redirect_uris"] = [...uris.get(id) ?? [], ...json["redirect_uris"] as string[]]
        ),
        saying((json, request) =>
          request.method === "POST" && uris.set(String(json["client_id"]), json["redirect_uris"] as string[])
        ),
      )(next);
    },
    breaks: names("updated", "old-uri-gone"),
  },
  {
    name: "oauth/management-keeps",
    fault: "Keeps what an update leaves out",
    wrap: updating((json) => json["client_name"] ??= "First Name"),
    breaks: names("left-out"),
  },
  {
    name: "oauth/management-of-any-id",
    fault: "Does not look at the client_id of an update",
    wrap: updating((json, id) => json["client_id"] = id),
    breaks: names("update-without-id", "update-of-another-id"),
  },
  {
    name: "oauth/management-secret-chosen",
    fault: "Lets a client choose its secret",
    wrap: (next) => {
      const chosen = new Map<string, string>();
      return both(
        updating((json, id) => {
          if (typeof json["client_secret"] === "string") chosen.set(id, json["client_secret"]);
          delete json["client_secret"];
        }),
        (inner) => async (request) => {
          const [id = "", secret] = decodeBasic(request);
          return chosen.get(id) === secret && secret !== undefined && request.url.endsWith("/token")
            ? Response.json({ error: "invalid_grant" }, { status: 400 })
            : await inner(request);
        },
      )(next);
    },
    breaks: names("secret-chosen"),
  },
  {
    name: "oauth/management-no-secret",
    fault: "Refuses updates that repeat the secret",
    wrap: by(
      "PUT",
      (next) => async (request) =>
        (await request.clone().text()).includes('"client_secret"')
          ? Response.json({ error: "invalid_client_metadata" }, { status: 400 })
          : await next(request),
    ),
    breaks: names("secret-repeated"),
  },
  {
    name: "oauth/management-token-chosen",
    fault: "Lets a client choose its registration access token",
    wrap: (next) => {
      const chosen = new Set<string>();
      return both(
        (inner) => async (request) =>
          chosen.has(request.headers.get("authorization") ?? "")
            ? Response.json({ client_id: "x" })
            : await inner(request),
        updating((json) => {
          if (json["registration_access_token"]) chosen.add(`Bearer ${json["registration_access_token"]}`);
        }),
      )(next);
    },
    breaks: names("token-not-set"),
  },
  {
    name: "oauth/management-half-done",
    fault: "Takes the half of an update that is good",
    wrap: updating((json) => {
      const uris = json["redirect_uris"] as string[];
      json["redirect_uris"] = uris.filter((uri) => uri.startsWith("https:"));
      if ((json["redirect_uris"] as string[]).length === 0) {
        json["redirect_uris"] = ["https://client.example/one"];
      }
    }),
    breaks: names("invalid-field"),
  },
  {
    name: "oauth/management-any-body",
    fault: "Says of every body that it was an update",
    wrap: by(
      "PUT",
      (next) => async (request) =>
        (await request.clone().text()).startsWith("[") ? Response.json({}) : await next(request),
    ),
    breaks: names("body-no-object"),
  },
  {
    name: "oauth/management-updated-by-anyone",
    fault: "Lets everybody change a registration",
    wrap: knowing("PUT"),
    breaks: names("update-without-token", "update-with-token-of-another"),
  },
  {
    name: "oauth/management-deleted-by-anyone",
    fault: "Lets everybody delete a registration",
    wrap: knowing("DELETE"),
    breaks: names("delete-without-token", "delete-with-token-of-another"),
    mayBreak: { "they delete twice": names("deleted-twice") },
  },
  {
    name: "oauth/management-deleted-is-ok",
    fault: "Answers deletions with 200 and JSON",
    wrap: by("DELETE", (next) => async (request) => {
      const answer = await next(request);
      return answer.status === 204 ? Response.json({ deleted: true }) : answer;
    }),
    breaks: names("deleted"),
    mayBreak: { "they delete first": names("deleted-") },
  },
  {
    name: "oauth/management-never-deleted",
    fault: "Says that a client is deleted, and keeps it",
    store: keeping("client"),
    breaks: names("deleted-token", "deleted-twice", "deleted-secret", "deleted-id", "deleted-access-token"),
  },
];

function decodeBasic(request: Request): readonly string[] {
  const { id, secret } = readBasic(request.headers.get("authorization")) ?? {};
  return id === undefined || secret === undefined ? [] : [id, secret.replace(/\+/g, " ")];
}
