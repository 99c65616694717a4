/**
 * `oidc-provider` with the login and consent pages that it brings, and its own memory adapter. That one keeps no more than
 * 1,000 records, so here it is made with more room.
 *
 * @module
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { CLIENT, LIFETIME, SCOPE, serveParent } from "./child.ts";

const entry = process.argv[2]!;
const { default: Provider } = await import(entry);
const { default: MemoryAdapter } = await import(new URL("./adapters/memory_adapter.js", entry).href);
const { default: LRU } = await import(new URL("./helpers/lru.js", entry).href);
// What it says of pages that are not for production.
console.warn = console.info = () => {};

// One store for all its models, as it does itself.
const storage = new LRU({ maxSize: 1e9 });
const adapter = (model: string) => new MemoryAdapter(model, storage);

const server = createServer();
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const { port } = server.address() as AddressInfo;
const provider = new Provider(`http://127.0.0.1:${port}`, {
  adapter,
  clients: [{
    client_id: CLIENT.id,
    client_secret: CLIENT.secret,
    redirect_uris: [CLIENT.redirect_uri],
    grant_types: ["authorization_code", "refresh_token", "client_credentials"],
    token_endpoint_auth_method: "client_secret_post",
  }],
  scopes: [SCOPE],
  features: { clientCredentials: { enabled: true }, introspection: { enabled: true } },
  issueRefreshToken: async () => true,
  rotateRefreshToken: true,
  ttl: { AccessToken: LIFETIME, ClientCredentials: LIFETIME, RefreshToken: LIFETIME, Grant: LIFETIME },
  cookies: { keys: ["a key for the cookies of this run"] },
});
server.on("request", provider.callback());

const client = await provider.Client.find(CLIENT.id);
serveParent(port, () => new provider.ClientCredentials({ client, scope: SCOPE }).save());
