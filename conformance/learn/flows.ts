/**
 * All flows, in the recommended order.
 *
 * @module
 */
import type { Flow } from "./flow.ts";
import { CLIENT_CREDENTIALS, CODE, REFRESHING } from "./flows_oauth.ts";
import { DEVICE, PROOF_OF_POSSESSION, PUSHED } from "./flows_oauth_more.ts";
import { JSON_RPC, MCP } from "./flows_rpc.ts";
import { SKILL } from "./flows_skills.ts";

export const FLOWS: readonly Flow[] = [
  CODE,
  REFRESHING,
  CLIENT_CREDENTIALS,
  DEVICE,
  PUSHED,
  PROOF_OF_POSSESSION,
  JSON_RPC,
  MCP,
  SKILL,
];
