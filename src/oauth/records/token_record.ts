/**
 * What is stored of access tokens, of what ends them, and of the keys that sign them.
 *
 * @module
 */
import type { PrivateJwk } from "../../crypto/jwk.ts";
import type { JwsAlgorithm } from "../../crypto/jws.ts";
import type { Key } from "../../store/store.ts";
import type { Authentication, Authorization } from "./authorization_record.ts";

/** The key that a token is bound to (RFC 7800): a DPoP key or a certificate, by its SHA-256 thumbprint. */
export interface Confirmation {
  readonly jkt?: string;
  readonly "x5t#S256"?: string;
}

/** The contents of an access token. Opaque ones are stored; ended by their lifetime or with their grant. */
export interface AccessToken extends Authorization {
  readonly user?: string;
  readonly grant?: string;
  readonly issued: number;
  readonly expires: number;
  readonly cnf?: Confirmation;
  readonly authentication?: Authentication;
  /** RFC 8693 §4.1: who acts for the subject. */
  readonly act?: Actor;
}

/** A record that is being built: on hot paths setting members one by one takes a third of the time of spreading. */
export type Mutable<Value> = { -readonly [Name in keyof Value]: Value[Name] };

export type Actor = { readonly sub: string; readonly act?: Actor };

/** A private signing key. Written at first use, and a while before the one before it retires. */
export interface SigningKey {
  readonly kid: string;
  readonly alg: JwsAlgorithm;
  readonly jwk: PrivateJwk;
  readonly generation: number;
  readonly created: number;
  /** When it begins to sign. */
  readonly starts: number;
}

export const accessTokenKey = (digest: string): Key => ["access_token", digest];
/** Of signed access tokens that a client got for itself. */
export const revocationsKey = (client: string): Key => ["revocations", client];
/** Of an assertion or a proof that may come once; the record lives as long as it would be taken. */
export const usedKey = (kind: "assertion" | "dpop", digest: string): Key => ["used", kind, digest];
export const signingKeyKey = (alg: JwsAlgorithm, generation: number): Key => ["signing_key", alg, generation];
