import { surfaces } from './surfaces.ts';

/** Cookie of browser sessions (RFC 6265): only `/api` gets it back, since ports of one host share their cookies. */
const name = surfaces.dashboard.sessionCookie!;
const attributes = `Path=${surfaces.dashboard.prefix}; HttpOnly; SameSite=Lax`;

/** Value of a cookie; undefined where it is absent, and where it is there twice: one of them is of another site. */
export function readSessionCookie(header: string | undefined, cookieName: string): string | undefined {
  const pairs = (header ?? '').split(';').map(pair => pair.trim());
  const values = pairs.filter(pair => pair.startsWith(`${cookieName}=`)).map(pair => pair.slice(cookieName.length + 1));
  return values.length === 1 && values[0] !== '' ? values[0] : undefined;
}

export const formatSessionCookie = (token: string, maxAgeSeconds: number, isSecure: boolean): string =>
  `${name}=${token}; Max-Age=${maxAgeSeconds}; ${attributes}${isSecure ? '; Secure' : ''}`;

/** Removes the cookie from the browser. */
export const formatExpiredCookie = (isSecure: boolean): string => formatSessionCookie('', 0, isSecure);
