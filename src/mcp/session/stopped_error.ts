/**
 * The error for a request whose instance stopped before the call had ended.
 *
 * @module
 */
import { INTERNAL_ERROR, RpcError } from "../../jsonrpc/error.ts";

/** -32603, which tells the client to send the request again. */
export function stoppedError(): RpcError {
  return new RpcError(
    INTERNAL_ERROR,
    "The server instance stopped before it answered. Send the request again",
  );
}
