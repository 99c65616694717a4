/**
 * The steps that each client runs in this order on one connection: together they use every feature of MCP. Only tests
 * import this.
 *
 * @module
 */
import { NOTIFICATION_STEPS } from "./test_notification_steps.ts";
import { REQUEST_STEPS } from "./test_request_steps.ts";
import type { Step } from "./test_feature_step.ts";
import { RESOURCE_STEPS } from "./test_resource_steps.ts";
import { TOOL_STEPS } from "./test_tool_steps.ts";

export const FEATURE_STEPS: readonly Step[] = [
  ...TOOL_STEPS,
  ...REQUEST_STEPS,
  ...RESOURCE_STEPS,
  ...NOTIFICATION_STEPS,
];
