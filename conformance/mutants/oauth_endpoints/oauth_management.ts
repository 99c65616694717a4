/**
 * Faults in dynamic client registration management (RFC 7592).
 *
 * @module
 */
import { combine, neverRemove } from "../accept_refused.ts";
import { REGISTER, withBody, withRequestHeaders } from "../http_faults.ts";
import type { Handler, Mutant, Wrap } from "../mutant.ts";
import { parseBasic } from "../registered_clients.ts";
import { resembling } from "../resembling.ts";

const names = (...ids: string[]): string[] => ids.map((id) => `oauth/client_management/${id}`);
const ALL = { "They use one client": names("") };

type Members = Record<string, unknown>;

/** Wraps requests to client configuration endpoints. */
const onManagement = (wrap: (next: Handler) => Handler): Wrap => (next) => {
  const faulty = wrap(next);
  return async (request) =>
    await (new URL(request.url).pathname.startsWith(`${REGISTER}/`) ? faulty : next)(request);
};

const onMethod = (method: string, wrap: (next: Handler) => Handler): Wrap =>
  onManagement((next) => {
    const faulty = wrap(next);
    return async (request) => await (request.method === method ? faulty : next)(request);
  });

/** Changes JSON responses of registration and its management. */
const changeClientResponses =
  (change: (json: Members, request: Request) => unknown): Wrap => (next) => async (request) => {
    const answer = await next(request);
    if (!new URL(request.url).pathname.startsWith(REGISTER) || ![200, 201].includes(answer.status)) {
      return answer;
    }
    const json = await answer.json();
    change(json, request);
    return withBody(answer, JSON.stringify(json));
  };

/** Changes the body of an update. */
const changeUpdates = (change: (json: Members, id: string) => void): Wrap =>
  onMethod("PUT", (next) => async (request) => {
    const json = await request.json();
    if (!Array.isArray(json)) change(json, new URL(request.url).pathname.split("/").at(-1)!);
    return await next(
      new Request(request.url, { method: "PUT", headers: request.headers, body: JSON.stringify(json) }),
    );
  });

/** Records each client's token and repeats refused requests with it. */
const retryWithKnownToken =
  (method: string, isAccepted: (status: number) => boolean = (status) => status === 401): Wrap => (next) => {
    const tokens = new Map<string, string>();
    return async (request) => {
      const id = new URL(request.url).pathname.split("/").at(-1)!;
      const answer = await next(request.clone() as Request);
      if (request.url.endsWith(REGISTER) && answer.status === 201) {
        const { client_id, registration_access_token } = await answer.clone().json();
        tokens.set(client_id, registration_access_token);
      }
      if (request.method !== method || !isAccepted(answer.status) || !tokens.has(id)) return answer;
      return await next(withRequestHeaders(request, { authorization: `Bearer ${tokens.get(id)}` }));
    };
  };

export const MANAGEMENT: readonly Mutant[] = [
  {
    name: "oauth/management-uri-omitted",
    fault: "Leaves registration_client_uri out of the response",
    wrap: changeClientResponses((json) => delete json["registration_client_uri"]),
    killedBy: names("registered", "read-tells-where"),
    mayFail: { "They need the management URI": [...names(""), "oauth/registration/"] },
    preventsSetup: "They need the management URI",
  },
  {
    name: "oauth/management-one-token",
    fault: "Issues the same short registration access token to every client",
    wrap: changeClientResponses((json) => json["registration_access_token"] = "secret"),
    killedBy: names("tokens-differ"),
    mayFail: {
      ...ALL,
      "They check what caches may keep": [
        "oauth/caching/registration-read",
        "oauth/caching/registration-updated",
      ],
    },
  },
  {
    name: "oauth/management-another-name",
    fault: "Returns another client_name than was registered",
    wrap: changeClientResponses((json) => json["client_name"] = "Client"),
    killedBy: names("registered", "read", "updated"),
    mayFail: { "They check the name": [...names(""), "oauth/registration/"] },
  },
  {
    name: "oauth/management-new-id",
    fault: "Returns another client_id when a client is read",
    wrap: onMethod("GET", (next) => changeClientResponses((json) => json["client_id"] = "another")(next)),
    killedBy: names("read"),
    mayFail: { "They read the client": names("") },
  },
  {
    name: "oauth/management-read-without-token",
    fault: "Lets any caller read a registration",
    wrap: retryWithKnownToken("GET"),
    killedBy: names(
      "read-without-token",
      "read-with-altered-token",
      "read-with-token-of-another",
      "read-with-secret",
      "token-in-query",
    ),
    mayFail: {
      "They send values that resemble the right ones": resembling("registration-token"),
      "They read without a valid token": names(""),
    },
  },
  {
    name: "oauth/management-unknown-404",
    fault: "Reveals with 404 which client ids exist",
    wrap: onManagement((next) => async (request) =>
      request.url.endsWith("x") ? new Response(null, { status: 404 }) : await next(request)
    ),
    killedBy: names("unknown-client", "update-of-unknown-client"),
    mayFail: { "The id may end with x by chance": names("") },
  },
  {
    name: "oauth/management-token-withheld",
    fault: "Leaves registration_access_token out of the responses to reads and updates",
    wrap: changeClientResponses((json, { method }) =>
      method !== "POST" && delete json["registration_access_token"]
    ),
    killedBy: names("read-returns-token", "updated-returns-token"),
  },
  {
    name: "oauth/management-by-patch",
    fault: "Answers PATCH with success",
    wrap: onMethod("PATCH", () => () => Promise.resolve(Response.json({}))),
    killedBy: names("patch"),
  },
  {
    name: "oauth/management-update-merges",
    fault: "Adds the redirect URIs of an update to the old ones",
    wrap: (next) => {
      const uris = new Map<string, string[]>();
      return combine(
        changeUpdates((json, id) =>
          json["redirect_uris"] = [...uris.get(id) ?? [], ...json["redirect_uris"] as string[]]
        ),
        changeClientResponses((json, request) =>
          request.method === "POST" && uris.set(String(json["client_id"]), json["redirect_uris"] as string[])
        ),
      )(next);
    },
    killedBy: names("updated", "old-uri-gone"),
  },
  {
    name: "oauth/management-update-keeps",
    fault: "Keeps members that an update leaves out",
    wrap: changeUpdates((json) => json["client_name"] ??= "First Name"),
    killedBy: names("left-out"),
  },
  {
    name: "oauth/management-id-unchecked",
    fault: "Does not check the client_id of an update",
    wrap: changeUpdates((json, id) => json["client_id"] = id),
    killedBy: names("update-without-id"),
  },
  {
    name: "oauth/management-id-replaced",
    fault: "Answers with the client_id of an update",
    wrap: (next) => {
      const ids = new Map<string, unknown>();
      return combine(
        changeUpdates((json, id) => {
          ids.set(id, json["client_id"]);
          json["client_id"] = id;
        }),
        changeClientResponses((json, { url }) => {
          json["client_id"] = ids.get(new URL(url).pathname.split("/").at(-1)!) ?? json["client_id"];
        }),
      )(next);
    },
    killedBy: names("update-of-another-id"),
    mayFail: { "They read the client_id": names("update-without-id") },
  },
  {
    name: "oauth/management-secret-chosen",
    fault: "Lets a client choose its secret",
    wrap: (next) => {
      const chosen = new Map<string, string>();
      return combine(
        changeUpdates((json, id) => {
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
    killedBy: names("secret-chosen"),
  },
  {
    name: "oauth/management-secret-refused",
    fault: "Refuses updates that repeat the secret",
    wrap: onMethod(
      "PUT",
      (next) => async (request) =>
        (await request.clone().text()).includes('"client_secret"')
          ? Response.json({ error: "invalid_client_metadata" }, { status: 400 })
          : await next(request),
    ),
    killedBy: names("secret-repeated"),
  },
  {
    name: "oauth/management-token-chosen",
    fault: "Lets a client choose its registration access token",
    wrap: (next) => {
      const chosen = new Set<string>();
      return combine(
        (inner) => async (request) =>
          chosen.has(request.headers.get("authorization") ?? "")
            ? Response.json({ client_id: "x" })
            : await inner(request),
        changeUpdates((json) => {
          if (json["registration_access_token"]) chosen.add(`Bearer ${json["registration_access_token"]}`);
        }),
      )(next);
    },
    killedBy: names("token-not-set"),
  },
  {
    name: "oauth/management-partial-update",
    fault: "Applies the valid part of an invalid update",
    wrap: changeUpdates((json) => {
      const uris = json["redirect_uris"] as string[];
      json["redirect_uris"] = uris.filter((uri) => uri.startsWith("https:"));
      if ((json["redirect_uris"] as string[]).length === 0) {
        json["redirect_uris"] = ["https://client.example/one"];
      }
    }),
    killedBy: names("invalid-field"),
  },
  {
    name: "oauth/management-any-body",
    fault: "Accepts a JSON array as an update",
    wrap: onMethod(
      "PUT",
      (next) => async (request) =>
        (await request.clone().text()).startsWith("[") ? Response.json({}) : await next(request),
    ),
    killedBy: names("body-no-object"),
  },
  {
    name: "oauth/management-update-without-token",
    fault: "Lets any caller update a registration",
    wrap: retryWithKnownToken("PUT"),
    killedBy: names("update-without-token", "update-with-token-of-another"),
  },
  {
    name: "oauth/management-delete-without-token",
    fault: "Lets any caller delete a registration",
    wrap: retryWithKnownToken("DELETE"),
    killedBy: names("delete-without-token", "delete-with-token-of-another"),
    mayFail: { "They delete twice": names("deleted-twice") },
  },
  {
    name: "oauth/management-deleted-with-200",
    fault: "Answers DELETE with 200",
    wrap: onMethod("DELETE", (next) => async (request) => {
      const answer = await next(request);
      return answer.status === 204 ? new Response(null) : answer;
    }),
    killedBy: names("deleted"),
  },
  {
    name: "oauth/management-never-deleted",
    fault: "Answers DELETE with success and keeps the client",
    store: neverRemove("client"),
    killedBy: names("deleted-token", "deleted-twice", "deleted-secret", "deleted-id", "deleted-access-token"),
  },
];

function decodeBasic(request: Request): readonly string[] {
  const { id, secret } = parseBasic(request.headers.get("authorization")) ?? {};
  return id === undefined || secret === undefined ? [] : [id, secret.replace(/\+/g, " ")];
}
