/**
 * Loads the modules that the server loads on first use, so that loading does not count for the first request of a fuzzer.
 *
 * @module
 */
import "../../src/mcp/definition/completion.ts";
import "../../src/mcp/definition/list_cursor.ts";
import "../../src/mcp/definition/prompts.ts";
import "../../src/mcp/definition/resources.ts";
import "../../src/mcp/http/call_stream.ts";
import "../../src/mcp/http/http_listen.ts";
import "../../src/mcp/http/http_session.ts";
import "../../src/mcp/input/call_input.ts";
import "../../src/mcp/stateful.ts";
import "../../src/oauth/consent/device_consent.ts";
import "../../src/oauth/endpoints/device_authorization.ts";
import "../../src/oauth/endpoints/par.ts";
import "../../src/oauth/endpoints/register.ts";
import "../../src/oauth/grants/grant_device.ts";
import "../../src/oauth/grants/grant_jwt_bearer.ts";
import "../../src/oauth/grants/grant_token_exchange.ts";
import "../../src/skills/messages/messages.ts";
import "../../src/skills/package/check_markdown.ts";
