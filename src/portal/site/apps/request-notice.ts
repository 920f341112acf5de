import { readSessionCookie } from '#operations/session-cookie.ts';
import type { StoredAccessRequest } from '../../access-requests/schema.ts';
import { html, type Markup } from '../markup.ts';
import type { SiteRequest } from '../page.ts';
import { formatSiteCookie } from '../visitor.ts';

/** Message of the page after the form of a request: a cookie that the page ends, so that a reload has no message. */

const cookieName = 'portal-requested';
const noticeTtlSeconds = 60;

export const createRequestNotice = ({ isSecure }: SiteRequest): string =>
  formatSiteCookie(cookieName, '1', noticeTtlSeconds, isSecure);

export const endRequestNotice = ({ isSecure }: SiteRequest): string => formatSiteCookie(cookieName, '', 0, isSecure);

export const hasRequestNotice = ({ cookie }: SiteRequest): boolean => readSessionCookie(cookie, cookieName) === '1';

/** Message while a request waits; empty where all are decided. */
export const renderRequestNotice = (requests: readonly StoredAccessRequest[]): Markup | '' =>
  requests.some(({ Status }) => Status === 'pending')
    ? html`<p class="message" role="status">The request was sent. You are notified when it is decided.</p>`
    : '';
