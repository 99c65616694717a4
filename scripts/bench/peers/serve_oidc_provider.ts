/**
 * `oidc-provider` with the login and consent pages that it brings. Its own memory adapter keeps no more than 1,000 records
 * and looks through all tokens of a grant for each new one, so it gets one made of Maps, which is faster.
 *
 * @module
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { CLIENT, LIFETIME, SCOPE, serveParent } from "./child.ts";

const { default: Provider } = await import(process.argv[2]!);
// What it says of pages that are not for production.
console.warn = console.info = () => {};

interface Payload {
  readonly uid?: string;
  readonly grantId?: string;
  consumed?: number;
}
interface Kept {
  readonly payload: Payload;
  /** Milliseconds since the epoch. */
  readonly expires: number;
}

const byUid = new Map<string, Kept>();
const byGrant = new Map<string, Set<() => void>>();

/** What an adapter must do: find what was put in until it expires, also by uid, and end all of a grant. */
class MapAdapter {
  readonly records: Map<string, Kept> = new Map();

  async upsert(id: string, payload: Payload, expiresIn: number): Promise<void> {
    const kept = { payload, expires: Date.now() + expiresIn * 1000 };
    this.records.set(id, kept);
    const { uid, grantId } = payload;
    if (uid !== undefined) byUid.set(uid, kept);
    if (grantId === undefined) return;
    const members = byGrant.get(grantId) ?? new Set();
    byGrant.set(grantId, members.add(() => this.records.delete(id)));
  }
  async find(id: string): Promise<Payload | undefined> {
    return livePayload(this.records.get(id));
  }
  async findByUid(uid: string): Promise<Payload | undefined> {
    return livePayload(byUid.get(uid));
  }
  async consume(id: string): Promise<void> {
    this.records.get(id)!.payload.consumed = Math.floor(Date.now() / 1000);
  }
  async destroy(id: string): Promise<void> {
    this.records.delete(id);
  }
  async revokeByGrantId(grantId: string): Promise<void> {
    for (const remove of byGrant.get(grantId) ?? []) remove();
    byGrant.delete(grantId);
  }
}

function livePayload(kept: Kept | undefined): Payload | undefined {
  return kept && kept.expires > Date.now() ? kept.payload : undefined;
}

const server = createServer();
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const { port } = server.address() as AddressInfo;
const provider = new Provider(`http://127.0.0.1:${port}`, {
  adapter: MapAdapter,
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
  ttl: {
    AuthorizationCode: LIFETIME,
    AccessToken: LIFETIME,
    ClientCredentials: LIFETIME,
    RefreshToken: LIFETIME,
    Grant: LIFETIME,
  },
  cookies: { keys: ["a key for the cookies of this run"] },
});
server.on("request", provider.callback());

const client = await provider.Client.find(CLIENT.id);
serveParent(port, () => new provider.ClientCredentials({ client, scope: SCOPE }).save());
