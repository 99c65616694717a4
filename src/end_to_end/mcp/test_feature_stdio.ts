/**
 * The feature server over standard input and output. Only tests start this.
 *
 * @module
 */
import process from "node:process";
import { createFeatureServers } from "./test_feature_server.ts";

await createFeatureServers("http://127.0.0.1", 1)[0]!.mcp!.serveStdio(process.stdin, process.stdout);
