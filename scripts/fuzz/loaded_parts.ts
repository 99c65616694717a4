/**
 * Loads the parts of the server that it loads when they are first used: their loading is no cost of the request that a
 * fuzzer happens to send first.
 *
 * @module
 */
import "../../src/oauth/consent/device_consent.ts";
import "../../src/oauth/endpoints/device_authorization.ts";
import "../../src/oauth/endpoints/par.ts";
import "../../src/oauth/endpoints/register.ts";
import "../../src/oauth/grants/grant_device.ts";
import "../../src/oauth/grants/grant_jwt_bearer.ts";
import "../../src/oauth/grants/grant_token_exchange.ts";
import "../../src/skills/messages/messages.ts";
import "../../src/skills/package/check_markdown.ts";
