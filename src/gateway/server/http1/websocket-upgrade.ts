import { connectionUpgrade } from '../../http/http1/field-block.ts';
import type { HeadParser } from '../../http/http1/head-parser.ts';

/** WebSocket upgrade (RFC 6455, 4.1); any other upgrade is ignored (RFC 9110, 7.8). */
export const isWebSocketUpgrade = ({ method, minorVersion, fields }: HeadParser): boolean =>
  fields.upgrade !== '' &&
  fields.upgrade.toLowerCase() === 'websocket' &&
  (fields.connection & connectionUpgrade) !== 0 &&
  method === 'GET' &&
  minorVersion === 1 &&
  fields.contentLength < 0 &&
  !fields.isChunked;
