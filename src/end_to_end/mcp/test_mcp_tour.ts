/**
 * The tour: every feature of MCP, seen by a client. Written once; each stop runs with each client, in this order, on one
 * connection. Nothing but tests imports this.
 *
 * @module
 */
import { CHANGE_STOPS } from "./test_mcp_tour_changes.ts";
import { QUESTION_STOPS } from "./test_mcp_tour_questions.ts";
import type { Stop } from "./test_mcp_tour_stop.ts";
import { THING_STOPS } from "./test_mcp_tour_things.ts";
import { TOOL_STOPS } from "./test_mcp_tour_tools.ts";

export const TOUR: readonly Stop[] = [...TOOL_STOPS, ...QUESTION_STOPS, ...THING_STOPS, ...CHANGE_STOPS];
