import { generateCodeVerifier, OAuth2Client, OAuth2Fetch } from "@badgateway/oauth2-client";
import { randomUUID } from "node:crypto";
import { base, clientId, clientSecret, drive, redirectUri, scope, signIn } from "../drive.mjs";

const client = new OAuth2Client({
  server: base,
  clientId,
  clientSecret,
  discoveryEndpoint: "/.well-known/oauth-authorization-server",
});

async function getToken() {
  const codeVerifier = await generateCodeVerifier();
  const state = randomUUID();
  const request = { redirectUri, state, codeVerifier };
  const url = await client.authorizationCode.getAuthorizeUri({ ...request, scope: [scope] });
  return await client.authorizationCode.getTokenFromCodeRedirect((await signIn(url)).href, request);
}

await drive({
  code: getToken,
  client_credentials: () => client.clientCredentials({ scope: [scope] }),
  refresh_at_once: async () => {
    const expired = { ...await getToken(), expiresAt: Date.now() - 1000 };
    const wrapper = new OAuth2Fetch({ client, getNewToken: () => null, getStoredToken: () => expired });
    const get = async () => await (await wrapper.fetch(new URL("/resource", base))).json();
    return await Promise.all([get(), get()]);
  },
  refresh: async () => await client.refreshToken(await client.refreshToken(await getToken())),
});
