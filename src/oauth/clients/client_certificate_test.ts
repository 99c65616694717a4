import { suite } from "uvu";
import * as assert from "uvu/assert";
import { decodePem, parseCertificate } from "../../crypto/x509.ts";
import { TokenRefusal } from "../../http/bearer.ts";
import type { RequestContext } from "../../http/service.ts";
import { toClient } from "./client.ts";
import type { ClientRegistration } from "./client_registration.ts";
import type { Grant } from "../records/grant_record.ts";
import type { AccessToken } from "../records/token_record.ts";
import { createProof, newKey, PEM, SEQUENCE, THUMBPRINT } from "../test_keys.ts";
import { CHALLENGE, ISSUER, newServer, VERIFIER } from "../test_server.ts";

const test = suite("oauth/client_certificate");

const JWK = {
  kty: "EC",
  crv: "P-256",
  x: "ObgUPjYZtopEDdjV4aWUsUUVrUm0USEhJhtuiAsinTk",
  y: "Tu45zid-uqNJnGBV_hAbDcp7lOnH-K6PCpJ2XsLFu44",
};
const PROXY = "10.0.0.9";
const certificateProxy = {
  addresses: [PROXY],
  certificateField: "client-cert",
  verifiedField: "x-client-verify",
  verifiedValue: "SUCCESS",
};

/**
 * openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 36500 -utf8
 *   -subj "/C=DE/O=Müller, Söhne/serialNumber=7/emailAddress=ops@client.example/CN=client"
 *   -addext "subjectAltName=DNS:client.example,IP:2001:db8::7"
 */
const OTHER_SEQUENCE = ":" + `
MIICUzCCAfmgAwIBAgIUK1JIg78utmknE7cnT0KulYvVI1MwCgYIKoZIzj0EAwIw
ZzELMAkGA1UEBhMCREUxGDAWBgNVBAoMD03DvGxsZXIsIFPDtmhuZTEKMAgGA1UE
BRMBNzEhMB8GCSqGSIb3DQEJARYSb3BzQGNsaWVudC5leGFtcGxlMQ8wDQYDVQQD
DAZjbGllbnQwIBcNMjYxMTIyMTA0MDA3WhgPMjEyNjEwMjkxMDQwMDdaMGcxCzAJ
BgNVBAYTAkRFMRgwFgYDVQQKDA9Nw7xsbGVyLCBTw7ZobmUxCjAIBgNVBAUTATcx
ITAfBgkqhkiG9w0BCQEWEm9wc0BjbGllbnQuZXhhbXBsZTEPMA0GA1UEAwwGY2xp
ZW50MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEHF19tJt9uOAI+qy4p8ianmtR
jxRSmccbVYoYnkOjLX7oUuWGYsZu66xc8BghYy3fZjMjPSDAuCBTckGw7nhm8aOB
gDB+MB0GA1UdDgQWBBQMa2r3033CZXQbc2DfbsVs4GfcFjAfBgNVHSMEGDAWgBQM
a2r3033CZXQbc2DfbsVs4GfcFjAPBgNVHRMBAf8EBTADAQH/MCsGA1UdEQQkMCKC
DmNsaWVudC5leGFtcGxlhxAgAQ24AAAAAAAAAAAAAAAHMAoGCCqGSM49BAMCA0gA
MEUCIQDa5m8b6pygVAHg7E4niYBx0DWkIVDutNBP4gUCv2+H1gIgLlSLPpWjtspi
/JRupTKVAq+gy2ew+9lbK4jaSKZ63Sg=
`.replace(/\s/g, "") + ":";

test("the names, key and thumbprint of a certificate are read", () => {
  assert.equal(parseCertificate(decodePem(PEM)!), {
    thumbprint: THUMBPRINT,
    publicKey: parseCertificate(decodePem(PEM)!)!.publicKey,
    subject_dn: "OU=A,O=Example\\, Inc.,C=DE",
    names: {
      san_dns: ["client.example"],
      san_uri: ["https://client.example/id"],
      san_ip: ["192.0.2.7", "2001:db8::7"],
      san_email: ["ops@client.example"],
    },
  });
});

test("a subject alternative name that is not ASCII is ignored, so that two different names never become equal", () => {
  const der = Uint8Array.from(decodePem(PEM)!);
  const name = new TextEncoder().encode("client.example");
  const at = der.findIndex((tag, i) => tag === 0x82 && name.every((byte, k) => der[i + 2 + k] === byte));
  assert.ok(at > 0);
  der[at + 2] = 0xff;
  assert.equal(parseCertificate(der)!.names.san_dns, []);
});

test("parsing a truncated or altered certificate neither throws nor gives the original thumbprint", () => {
  const der = decodePem(PEM)!;
  for (let end = 0; end < der.length; end += 7) {
    const cut = parseCertificate(der.subarray(0, end));
    assert.ok(cut === undefined || cut.thumbprint !== THUMBPRINT, `${end}`);
  }
  for (let i = 0; i < der.length; i += 3) {
    const changed = Uint8Array.from(der);
    changed[i]! ^= 0xff;
    assert.is.not(parseCertificate(changed)?.thumbprint, THUMBPRINT, `${i}`);
  }
});

async function newToken(
  client: Partial<ClientRegistration>,
  headers: Record<string, string>,
  { hasProxy = true, ...context }: RequestContext & { hasProxy?: boolean } = {},
) {
  const server = await newServer({
    certificateProxy: hasProxy ? certificateProxy : undefined,
    clients: [toClient({ id: "m", grant_types: ["client_credentials"], ...client }, 0)],
  });
  const body = new URLSearchParams({ grant_type: "client_credentials", client_id: "m" });
  const response = await server.service.fetch(
    new Request(ISSUER + "/oauth/token", { method: "POST", body, headers }),
    { ip: PROXY, ...context },
  );
  return { server, response, body: await response.json() };
}

const BY_NAME = {
  token_endpoint_auth_method: "tls_client_auth",
  certificate: { type: "san_dns", value: "client.example" },
} as const;
const TRUSTED = { "client-cert": SEQUENCE, "x-client-verify": "SUCCESS" };

test("RFC 8705 section 2.1: a certificate that the proxy verified authenticates the client with the registered name", async () => {
  for (
    const [type, value] of [
      ["san_dns", "client.example"],
      ["san_uri", "https://client.example/id"],
      ["san_ip", "192.0.2.7"],
      ["san_email", "ops@client.example"],
      ["subject_dn", "OU=A,O=Example\\, Inc.,C=DE"],
    ] as const
  ) {
    const { response } = await newToken({ ...BY_NAME, certificate: { type, value } }, TRUSTED);
    assert.is(response.status, 200, type);
  }
  // Behind trustedProxies `ip` is the caller; the proxy that verified the certificate is `peer`.
  const named = await newToken(BY_NAME, TRUSTED, { ip: "198.51.100.1", peer: PROXY });
  assert.is(named.response.status, 200);
  for (const peer of ["198.51.100.1", "::ffff:10.0.0.8", "::10.0.0.9", ""]) {
    const forged = await newToken(BY_NAME, TRUSTED, { ip: PROXY, peer });
    assert.is(forged.response.status, 401, peer);
  }
  // Its address as a server that listens on IPv6 and IPv4 gets it.
  assert.is((await newToken(BY_NAME, TRUSTED, { ip: `::ffff:${PROXY}` })).response.status, 200);
  assert.is(
    (await newToken({ ...BY_NAME, certificate: { type: "san_dns", value: "other.example" } }, TRUSTED))
      .response.status,
    401,
  );
});

for (
  const [type, value] of [
    [
      "subject_dn",
      "CN=client,emailAddress=ops@client.example,serialNumber=7,O=M\\C3\\BCller\\, S\\C3\\B6hne,C=DE",
    ],
    ["subject_dn", "CN=client,emailAddress=ops@client.example,serialNumber=7,O=Müller\\, Söhne,C=DE"],
    ["subject_dn", 'cn=client, E=ops@client.example, SERIALNUMBER=7, O="Müller, Söhne", C=DE'],
    [
      "subject_dn",
      "CN=client,1.2.840.113549.1.9.1=#16126f707340636c69656e742e6578616d706c65,2.5.4.5=7,O=Müller\\2C Söhne,C=DE",
    ],
    ["san_ip", "2001:db8::7"],
    ["san_ip", "2001:0DB8:0:0:0:0:0:7"],
    ["san_dns", "Client.Example"],
  ] as const
) {
  test(`RFC 8705 section 2.1.2: an equal name in another spelling matches: ${type} ${value}`, async () => {
    const headers = { "client-cert": OTHER_SEQUENCE, "x-client-verify": "SUCCESS" };
    const { response } = await newToken({ ...BY_NAME, certificate: { type, value } }, headers);
    assert.is(response.status, 200);
  });
}

for (
  const [type, value] of [
    ["subject_dn", "CN=client,emailAddress=ops@client.example,O=Müller\\, Söhne,C=DE"],
    ["subject_dn", "C=DE,O=Müller\\, Söhne,serialNumber=7,emailAddress=ops@client.example,CN=client"],
    ["subject_dn", "CN=Client,emailAddress=ops@client.example,serialNumber=7,O=Müller\\, Söhne,C=DE"],
    ["san_ip", "2001:db8::8"],
    ["san_ip", "::2001:db8:7"],
  ] as const
) {
  test(`RFC 8705 section 2.1.2: another name does not match: ${type} ${value}`, async () => {
    const headers = { "client-cert": OTHER_SEQUENCE, "x-client-verify": "SUCCESS" };
    const { response } = await newToken({ ...BY_NAME, certificate: { type, value } }, headers);
    assert.is(response.status, 401);
  });
}

test("a registration with an invalid certificate name is refused", () => {
  for (
    const [type, value] of [["san_ip", "2001:db8::7%1"], ["san_ip", "client"], ["subject_dn", "/CN=client"]]
  ) {
    const certificate = { type: type as "san_ip", value: value! };
    assert.throws(
      () => toClient({ id: "m", grant_types: ["client_credentials"], certificate }, 0),
      TypeError,
    );
  }
});

/** Redeems a code of a public client whose tokens are bound to its certificate. */
async function newBoundGrant() {
  const redirect_uri = "https://bound.example/cb";
  const server = await newServer({
    certificateProxy,
    clients: [
      toClient({
        id: "bound",
        redirect_uris: [redirect_uri],
        tls_client_certificate_bound_access_tokens: true,
      }, 0),
    ],
  });
  const ask = async (form: Record<string, string>, headers: Record<string, string>) => {
    const body = new URLSearchParams({ client_id: "bound", ...form });
    const request = new Request(ISSUER + "/oauth/token", { method: "POST", body, headers });
    const response = await server.service.fetch(request, { ip: PROXY });
    return { status: response.status, ...await response.json() };
  };
  const code = (await server.authorize({
    client_id: "bound",
    redirect_uri,
    code_challenge: CHALLENGE,
    code_challenge_method: "S256",
  })).get("code")!;
  const form = { grant_type: "authorization_code", code, redirect_uri, code_verifier: VERIFIER };
  const tokens = await ask(form, { "client-cert": SEQUENCE });
  const refresh = (headers: Record<string, string>) =>
    ask({ grant_type: "refresh_token", refresh_token: tokens.refresh_token }, headers);
  return { server, tokens, refresh };
}

test("RFC 8705 section 4: a refresh token bound to a certificate is refused with another certificate", async () => {
  const { refresh } = await newBoundGrant();
  const stolen = await refresh({ "client-cert": OTHER_SEQUENCE });
  assert.equal([stolen.status, stolen.error], [400, "invalid_grant"]);
  assert.is(
    (await refresh({ "client-cert": SEQUENCE })).status,
    200,
    "the refused request did not consume it",
  );
  const again = await refresh({ "client-cert": OTHER_SEQUENCE });
  assert.equal(
    [again.status, again.error],
    [400, "invalid_grant"],
    "a retry with another certificate gets no cached response",
  );
});

test("a DPoP proof does not replace the certificate: tokens are bound to both", async () => {
  const { server, refresh } = await newBoundGrant();
  const key = await newKey();
  const dpop = () => createProof(key, ISSUER + "/oauth/token");
  assert.is((await refresh({ dpop: await dpop() })).error, "invalid_request");
  assert.is((await refresh({ dpop: await dpop(), "client-cert": OTHER_SEQUENCE })).error, "invalid_grant");
  const both = await refresh({ dpop: await dpop(), "client-cert": SEQUENCE });
  assert.equal([both.status, both.token_type], [200, "DPoP"]);
  const grant = (await server.store.list<Grant>(["grant"]))[0]!.value;
  assert.equal(Object.keys(grant.cnf!), ["x5t#S256"]);
  const [token] = (await server.store.list<AccessToken>(["access_token"])).filter(({ value }) =>
    value.cnf?.jkt
  );
  assert.equal(Object.keys(token!.value.cnf!).sort(), ["jkt", "x5t#S256"]);
});

test("RFC 8705 section 2.2: a self-signed certificate authenticates the client with the registered key", async () => {
  const client = {
    token_endpoint_auth_method: "self_signed_tls_client_auth",
    jwks: { keys: [JWK] },
  } as const;
  assert.is((await newToken(client, { "client-cert": SEQUENCE })).response.status, 200);
  assert.is(
    (await newToken(client, { "client-cert": encodeURIComponent(PEM) })).response.status,
    200,
    "percent-encoded PEM, as nginx sends it",
  );
  const other = { keys: [{ ...JWK, x: JWK.y, y: JWK.x }] };
  assert.is((await newToken({ ...client, jwks: other }, { "client-cert": SEQUENCE })).response.status, 401);
});

test("RFC 8705 section 2.2: the registered keys may be at jwks_uri, and a failing fetch fails authentication", async () => {
  let answer = () => new Response(JSON.stringify({ keys: [JWK] }));
  const server = await newServer({
    certificateProxy,
    connect: () => Promise.resolve(answer()),
    clients: [1, 2, 3].map((i) =>
      toClient({
        id: `m${i}`,
        grant_types: ["client_credentials"],
        token_endpoint_auth_method: "self_signed_tls_client_auth",
        jwks_uri: `https://client.example/keys-${i}`,
      }, 0)
    ),
  });
  const ask = async (client_id: string, headers: Record<string, string>) => {
    const body = new URLSearchParams({ grant_type: "client_credentials", client_id });
    const request = new Request(ISSUER + "/oauth/token", { method: "POST", body, headers });
    return (await server.service.fetch(request, { ip: PROXY })).status;
  };
  assert.is(await ask("m1", { "client-cert": SEQUENCE }), 200);
  assert.is(await ask("m1", {}), 401);
  answer = () => new Response(JSON.stringify({ keys: [{ ...JWK, x: JWK.y, y: JWK.x }] }));
  assert.is(await ask("m2", { "client-cert": SEQUENCE }), 401);
  answer = () => new Response("", { status: 500 });
  assert.is(await ask("m3", { "client-cert": SEQUENCE }), 401);
});

for (
  const [name, headers, options] of [
    ["from an address other than the proxy's", TRUSTED, { ip: "10.0.0.10" }],
    ["without a configured proxy, the default", TRUSTED, { hasProxy: false }],
    ["that the proxy did not verify", { "client-cert": SEQUENCE, "x-client-verify": "FAILED" }, {}],
    ["without the verification field", { "client-cert": SEQUENCE }, {}],
    ["that is malformed", { ...TRUSTED, "client-cert": ":AAAA:" }, {}],
    ["that is absent", { "x-client-verify": "SUCCESS" }, {}],
  ] as const
) {
  test(`a certificate ${name} gets invalid_client`, async () => {
    const { response, body } = await newToken(BY_NAME, headers as Record<string, string>, options);
    assert.equal([response.status, body.error], [401, "invalid_client"]);
  });
}

test("RFC 8705 section 3: an access token bound to a certificate is refused without it", async () => {
  const client = { ...BY_NAME, tls_client_certificate_bound_access_tokens: true };
  const { server, body } = await newToken(client, TRUSTED);
  assert.is(body.token_type, "Bearer");
  const identify = (headers: Record<string, string>, ip = PROXY) =>
    server.service.identify(
      new Request(ISSUER + "/mcp", { headers: { authorization: `Bearer ${body.access_token}`, ...headers } }),
      { ip },
      ISSUER + "/mcp",
    );
  assert.not.instance(await identify({ "client-cert": SEQUENCE }), TokenRefusal);
  assert.instance(await identify({}), TokenRefusal);
  assert.instance(await identify({ "client-cert": SEQUENCE }, "10.0.0.10"), TokenRefusal);
});

test("RFC 8705 section 3.4: a client with tls_client_certificate_bound_access_tokens gets no token without a certificate", async () => {
  const clients = [
    toClient({ id: "bound", secret: "s", tls_client_certificate_bound_access_tokens: true }, 0),
  ];
  const server = await newServer({ clients, certificateProxy });
  const ask = async (headers: Record<string, string>, ip: string) => {
    const form = { grant_type: "client_credentials", client_id: "bound", client_secret: "s" };
    const response = await server.service.fetch(
      new Request(`${ISSUER}/oauth/token`, { method: "POST", body: new URLSearchParams(form), headers }),
      { ip },
    );
    const { error, token_type } = await response.json();
    return [response.status, error ?? token_type];
  };
  const certificate = { "client-cert": SEQUENCE, "x-client-verify": "SUCCESS" };
  const refused = [400, "invalid_request"];
  assert.equal(await ask({}, PROXY), refused);
  assert.equal(await ask(certificate, "192.0.2.1"), refused, "only certificates from the proxy count");
  assert.equal(await ask(certificate, PROXY), [200, "Bearer"]);
});

test.run();
