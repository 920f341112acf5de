import type { ResultOf } from '../../kit/calls.ts';

export type ClientItem = ResultOf<'GET /api/oauth/clients'>['apps'][number];

export const nameClient = ({ client_name, client_id }: Pick<ClientItem, 'client_name' | 'client_id'>): string =>
  client_name || client_id;

const shownTokenChars = 6;
/** End of a token: a token is a credential, of which only the last characters are shown. */
export const maskToken = (code: string): string => `…${code.slice(-shownTokenChars)}`;

export const splitRedirects = (text: string): readonly string[] =>
  text
    .split(',')
    .map(uri => uri.trim())
    .filter(Boolean);
