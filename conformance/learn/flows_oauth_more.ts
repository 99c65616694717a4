/**
 * OAuth extensions: device authorization, pushed authorization requests, and DPoP.
 *
 * @module
 */
import type { Explanation, Flow } from "./flow.ts";
import { REDEEM, SIGN_IN, USE } from "./flows_oauth.ts";

const POLL: Explanation = {
  exchange: { endpoint: "token", request: "device_code" },
  text: "The device polls the token endpoint until the user has decided.",
  rows: ["rfc8628#3.4/1", "rfc8628#3.4/2", "rfc8628#3.4/3"],
};

const CODES: Explanation = {
  exchange: { endpoint: "device_authorization" },
  text: "The device receives a device code for itself and a short user code for the user.",
  rows: ["rfc8628#3.2/1", "rfc8628#3.2/2", "rfc8628#3.2/3", "rfc8628#3.2/4"],
};

export const DEVICE: Flow = {
  name: "device",
  title: "Device authorization",
  summary:
    "A device without a browser, such as a television, waits while its user enters a short code in another browser.",
  explanations: [CODES, SIGN_IN[0]!, POLL, USE],
  parts: [
    { text: "The whole flow, from the codes to the token.", vector: "oauth/device/token-works" },
    {
      text: "Before the user decides, the response is authorization_pending.",
      vector: "oauth/device/pending",
    },
    { text: "A device that polls too often receives slow_down.", vector: "oauth/device/slow-down" },
    {
      text: "A link with the user code is not consent, because an attacker may have sent it.",
      vector: "oauth/device/address-allows-nothing",
    },
    { text: "The user refuses.", vector: "oauth/device/denied" },
    { text: "Another client cannot use the device code.", vector: "oauth/device/code-of-another" },
  ],
};

const PUSH: Explanation = {
  exchange: { endpoint: "pushed_authorization_request" },
  text: "The client authenticates, sends its authorization request directly, and receives a request_uri.",
  rows: ["rfc9126#2.1/1", "rfc9126#2.2/1"],
};

export const PUSHED: Flow = {
  name: "par",
  title: "Pushed authorization requests",
  summary:
    "Parameters in the URL of a browser can be read and changed. The client sends them directly to the server instead.",
  explanations: [PUSH, ...SIGN_IN, REDEEM],
  parts: [
    { text: "The browser carries only the request_uri.", vector: "oauth/par/pushed" },
    { text: "A client cannot push a request for another client.", vector: "oauth/par/proof-of-another" },
    { text: "An invalid request is refused before the user is involved.", vector: "oauth/par/unknown-scope" },
    {
      text: "Parameters beside the request_uri are ignored.",
      vector: "oauth/par/scope-beside-it",
    },
    { text: "Another client cannot use the request_uri.", vector: "oauth/par/name-of-another-client" },
    { text: "A used request_uri is refused.", vector: "oauth/par/twice" },
  ],
};

export const PROOF_OF_POSSESSION: Flow = {
  name: "dpop",
  title: "DPoP, proof of possession",
  summary:
    "A token bound to a key: each request carries a proof that is signed with the key for this request.",
  explanations: [SIGN_IN[0]!, SIGN_IN[2]!, REDEEM, USE],
  parts: [
    {
      text: "A code exchanged with a proof gives a token bound to the key of the proof.",
      vector: "oauth/dpop/bound",
    },
    { text: "The token with a proof of its key gives access.", vector: "oauth/dpop/used" },
    { text: "The token without a proof is refused.", vector: "oauth/dpop/no-proof" },
    { text: "A proof of another key is refused.", vector: "oauth/dpop/proof-of-another-key" },
    { text: "A proof for another URL is refused.", vector: "oauth/dpop/resource-htu-of-another" },
    { text: "The token is refused as a Bearer token.", vector: "oauth/dpop/as-bearer" },
  ],
};
