/**
 * Flows for what the code grant alone does not solve: devices without a browser, requests that nobody on the way may
 * change, and tokens that are worth nothing to who steals them.
 *
 * @module
 */
import type { Flow, Point } from "./flow.ts";
import { REDEEM, SIGN_IN, USE } from "./flows_oauth.ts";

const POLL: Point = {
  fits: { endpoint: "token", request: "device_code" },
  says: "The device asks whether its user has answered.",
  rows: ["rfc8628#3.4/1", "rfc8628#3.4/2", "rfc8628#3.4/3"],
};

const CODES: Point = {
  fits: { endpoint: "device_authorization" },
  says: "The device gets a long code for itself and a short one for its user.",
  rows: ["rfc8628#3.2/1", "rfc8628#3.2/2", "rfc8628#3.2/3", "rfc8628#3.2/4"],
};

export const DEVICE: Flow = {
  name: "device",
  title: "Device authorization",
  about: "A television has no browser to sign in with. Its user types a short code elsewhere, and it waits.",
  points: [CODES, SIGN_IN[0]!, POLL, USE],
  parts: [
    { says: "From the codes to the token, as it should go.", vector: "oauth/device/token-works" },
    { says: "Until the user has answered there is nothing.", vector: "oauth/device/pending" },
    { says: "A device that asks too often is told to slow down.", vector: "oauth/device/slow-down" },
    {
      says: "A link with the code in it is not consent: somebody else may have sent it.",
      vector: "oauth/device/address-allows-nothing",
    },
    { says: "The user may refuse.", vector: "oauth/device/denied" },
    { says: "The code is this device's alone.", vector: "oauth/device/code-of-another" },
  ],
};

const PUSH: Point = {
  fits: { endpoint: "pushed_authorization_request" },
  says: "The client sends its request itself, proves who it is, and gets a name for it.",
  rows: ["rfc9126#2.1/1", "rfc9126#2.2/1"],
};

export const PUSHED: Flow = {
  name: "par",
  title: "Pushed authorization requests",
  about: "A request in the browser's address can be read and changed on its way. So it does not go that way.",
  points: [PUSH, ...SIGN_IN, REDEEM],
  parts: [
    { says: "The browser carries a name only.", vector: "oauth/par/pushed" },
    { says: "Nobody pushes for another client.", vector: "oauth/par/proof-of-another" },
    { says: "What is wrong is told before a user is bothered.", vector: "oauth/par/unknown-scope" },
    {
      says: "What stands beside the name in the address counts for nothing.",
      vector: "oauth/par/scope-beside-it",
    },
    { says: "A name is good for who pushed, and once.", vector: "oauth/par/name-of-another-client" },
    { says: "Used, it leads nowhere.", vector: "oauth/par/twice" },
  ],
};

export const PROOF_OF_POSSESSION: Flow = {
  name: "dpop",
  title: "DPoP, proof of possession",
  about:
    "A token that is worth nothing without a key: each request carries a proof, signed for this request.",
  points: [SIGN_IN[0]!, SIGN_IN[2]!, REDEEM, USE],
  parts: [
    {
      says: "A code, redeemed with a proof, gives a token that is bound to its key.",
      vector: "oauth/dpop/bound",
    },
    { says: "The token with a proof of its key opens the resource.", vector: "oauth/dpop/used" },
    { says: "A thief has the token, and not the key.", vector: "oauth/dpop/no-proof" },
    { says: "Nor does a key of the thief's own help.", vector: "oauth/dpop/proof-of-another-key" },
    { says: "A proof that was caught is for another request.", vector: "oauth/dpop/resource-htu-of-another" },
    { says: "And the token is no Bearer token any more.", vector: "oauth/dpop/as-bearer" },
  ],
};
