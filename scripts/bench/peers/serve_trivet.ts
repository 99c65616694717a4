/**
 * Trivet on its memory store, through `trivet/node`.
 *
 * @module
 */
import { createTrivet, memoryStore } from "../../../src/mod.ts";
import { addUser } from "../../../src/oauth/users/user.ts";
import { serve } from "../../../src/runtime/node.ts";
import { CLIENT, LIFETIME_SECONDS, SCOPE, serveParent, USER } from "./child.ts";

/** The maximum. Codes are used in the slice for which they are created. */
const CODE_LIFETIME_SECONDS = 600;
const store = memoryStore();
await addUser(store, USER);
const options = {
  store,
  oauth: {
    clients: [{ id: CLIENT.id, secret: CLIENT.secret, redirect_uris: [CLIENT.redirect_uri] }],
    accessTokenLifetime: LIFETIME_SECONDS,
    codeLifetime: CODE_LIFETIME_SECONDS,
  },
};
let handler = createTrivet({ issuer: "http://127.0.0.1", ...options });
const server = await serve({ fetch: (request, context) => handler.fetch(request, context) }, { port: 0 });
handler = createTrivet({ issuer: server.url, ...options });

const body = new URLSearchParams({
  grant_type: "client_credentials",
  client_id: CLIENT.id,
  client_secret: CLIENT.secret,
  scope: SCOPE,
}).toString();
serveParent(server.port, async () => {
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const { status } = await handler.fetch(
    new Request(`${server.url}/oauth/token`, { method: "POST", body, headers }),
  );
  if (status !== 200) throw new Error(`Trivet responded with ${status}`);
});
