/**
 * tmcp on standard input and output.
 */
import { StdioTransport } from "@tmcp/transport-stdio";
import { server } from "./definitions.mjs";

new StdioTransport(server).listen();
