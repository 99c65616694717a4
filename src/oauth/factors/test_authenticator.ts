/**
 * A software authenticator with resident ES256 keys, and what a browser does around it (WebAuthn sections 5.1 and 6.3).
 * Each part of a response can be forged. Only tests import this.
 *
 * @module
 */
import { encodeBase64url } from "../../crypto/base64url.ts";
import { randomBytes } from "../../crypto/random_bytes.ts";
import { sha256 } from "../../crypto/sha256.ts";

/** What a test changes about a response. */
export interface Forgery {
  readonly origin?: string;
  readonly rpId?: string;
  readonly challenge?: string;
  readonly type?: string;
  readonly crossOrigin?: boolean;
  readonly userVerified?: boolean;
  readonly userPresent?: boolean;
  readonly counter?: number;
  readonly userHandle?: string;
  readonly id?: string;
  /** CBOR of the attestation format and its statement. */
  readonly attestation?: Uint8Array;
}

interface Options {
  readonly challenge: string;
  readonly rpId?: string;
  readonly rp?: { readonly id: string };
  readonly user?: { readonly id: string };
  readonly allowCredentials?: readonly { readonly id: string }[];
}

export interface Authenticator {
  /** The credential id. */
  readonly id: string;
  counter: number;
  /** The JSON of a registration. @param options as in `data-options` of the page */
  create(options: string, forgery?: Forgery): Promise<string>;
  /** The JSON of an assertion. */
  get(options: string, forgery?: Forgery): Promise<string>;
  /** A copy with the same key. */
  copy(): Authenticator;
}

const UP = 1, UV = 4, AT = 64;

/**
 * @param origin of the page that the user is on
 * @param idBytes of the credential id, up to 255
 */
export async function newAuthenticator(
  origin: string,
  counts: boolean = true,
  idBytes: number = 32,
): Promise<Authenticator> {
  const algorithm = { name: "ECDSA", namedCurve: "P-256" };
  const keys = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const { x, y } = await crypto.subtle.exportKey("jwk", keys.publicKey);
  const rawId = randomBytes(idBytes);
  return build({ origin, counts, key: keys.privateKey, cose: toCose(x!, y!), rawId, counter: 0, handle: "" });
}

interface State {
  readonly origin: string;
  readonly counts: boolean;
  readonly key: CryptoKey;
  readonly cose: Uint8Array;
  readonly rawId: Uint8Array;
  counter: number;
  handle: string;
}

function build(state: State): Authenticator {
  const id = encodeBase64url(state.rawId);

  function clientData(type: string, options: Options, forgery: Forgery): Uint8Array {
    return new TextEncoder().encode(JSON.stringify({
      type: forgery.type ?? type,
      challenge: forgery.challenge ?? options.challenge,
      origin: forgery.origin ?? state.origin,
      crossOrigin: forgery.crossOrigin ?? false,
    }));
  }

  function authenticatorData(rpId: string, forgery: Forgery, credential: Uint8Array): Uint8Array {
    if (state.counts) state.counter++;
    const flags = (forgery.userPresent ?? true ? UP : 0) | (forgery.userVerified ?? true ? UV : 0) |
      (credential.length > 0 ? AT : 0);
    const counter = new DataView(new ArrayBuffer(4));
    counter.setUint32(0, forgery.counter ?? state.counter);
    return join(
      sha256(forgery.rpId ?? rpId),
      Uint8Array.of(flags),
      new Uint8Array(counter.buffer),
      credential,
    );
  }

  return {
    id,
    get counter() {
      return state.counter;
    },
    set counter(value) {
      state.counter = value;
    },
    create(text, forgery = {}) {
      const options = JSON.parse(text) as Options;
      state.handle = options.user!.id;
      const credential = join(
        new Uint8Array(16),
        Uint8Array.of(0, state.rawId.length),
        state.rawId,
        state.cose,
      );
      const authData = authenticatorData(options.rp!.id, forgery, credential);
      const none = join(Uint8Array.of(0xa3), cborText("fmt"), cborText("none"), cborText("attStmt"), [0xa0]);
      const attestationObject = join(forgery.attestation ?? none, cborText("authData"), [
        0x59,
        authData.length >> 8,
        authData.length & 255,
      ], authData);
      return Promise.resolve(JSON.stringify({
        id,
        rawId: id,
        type: "public-key",
        response: {
          clientDataJSON: encodeBase64url(clientData("webauthn.create", options, forgery)),
          attestationObject: encodeBase64url(attestationObject),
          transports: ["internal"],
        },
        clientExtensionResults: {},
      }));
    },
    async get(text, forgery = {}) {
      const options = JSON.parse(text) as Options;
      const data = clientData("webauthn.get", options, forgery);
      const authData = authenticatorData(options.rpId!, forgery, new Uint8Array());
      const signed = join(authData, sha256(data));
      const raw = await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, state.key, signed);
      const given = forgery.id ?? id;
      return JSON.stringify({
        id: given,
        rawId: given,
        type: "public-key",
        response: {
          clientDataJSON: encodeBase64url(data),
          authenticatorData: encodeBase64url(authData),
          signature: encodeBase64url(toDer(new Uint8Array(raw))),
          userHandle: forgery.userHandle ?? state.handle,
        },
        clientExtensionResults: {},
      });
    },
    copy: () => build({ ...state }),
  };
}

function join(...parts: readonly (Uint8Array | readonly number[])[]): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

/** A CBOR text of less than 24 bytes. */
export function cborText(text: string): Uint8Array {
  return join([0x60 + text.length], new TextEncoder().encode(text));
}

/** RFC 9053 section 7.1.1: an EC2 key for ES256. */
function toCose(x: string, y: string): Uint8Array {
  const bytes = (text: string) =>
    Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (each) => each.charCodeAt(0));
  return join([0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21, 0x58, 32], bytes(x), [0x22, 0x58, 32], bytes(y));
}

/** WebAuthn section 6.5.5: ES256 signatures are ASN.1 DER. */
function toDer(raw: Uint8Array): Uint8Array {
  const integer = (bytes: Uint8Array): Uint8Array => {
    let start = 0;
    while (start < bytes.length - 1 && bytes[start] === 0) start++;
    const rest = bytes.subarray(start);
    const body = rest[0]! > 127 ? join([0], rest) : rest;
    return join([2, body.length], body);
  };
  const body = join(integer(raw.subarray(0, 32)), integer(raw.subarray(32)));
  return join([0x30, body.length], body);
}
