/**
 * tmcp over stdio.
 */
import { StdioTransport } from "@tmcp/transport-stdio";
import { server } from "./definitions.mjs";

new StdioTransport(server).listen();
