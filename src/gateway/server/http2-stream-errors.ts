import { constants, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';

/** NGHTTP2_ERR_PROTO: nghttp2 reports stream errors and connection errors alike by it. */
const protocolErrno = -505;

/** node:http2 itself passes null where there is no error. */
const isProtocolError = (error: unknown): boolean =>
  error instanceof Error && 'errno' in error && error.errno === protocolErrno;

/**
 * Malformed requests as stream errors (RFC 9113, section 8.1.1). For a body that exceeds its content-length nghttp2 resets the
 * stream and reports a protocol error, on which node:http2 destroys the session with every other stream; no option of
 * it changes that. So `destroy` waits for the reset: the session ends only where no stream was reset, which makes it a connection
 * error, or where there were more than `maxStreamErrors`. Without the wait a connection error gets the code of node:http2
 * (INTERNAL_ERROR), with it that of nghttp2.
 */
export function isolateStreamErrors(session: ServerHttp2Session, maxStreamErrors: number): void {
  const destroy = session.destroy.bind(session);
  let reported = 0;
  let unexplained = 0;
  function countReset(this: ServerHttp2Stream): void {
    if (unexplained > 0 && this.rstCode === constants.NGHTTP2_PROTOCOL_ERROR) unexplained--;
  }
  session.on('stream', stream => stream.once('close', countReset));
  session.destroy = (error, code) => {
    if (!isProtocolError(error) || ++reported > maxStreamErrors) return destroy(error, code);
    unexplained++;
    // nghttp2 writes the reset once it has read what was received, before this runs.
    setImmediate(() => {
      if (unexplained > 0 && !session.destroyed) destroy(error, code);
    });
  };
}
