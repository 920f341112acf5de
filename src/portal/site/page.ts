import type { OutboundClient } from '#base/http-client/client.ts';
import type { Log } from '#base/log.ts';
import type { Vault } from '#base/vault.ts';
import type { WriteAudit } from '#operations/audit.ts';
import type { SignInLimit } from '#people/sessions/sign-in-limit.ts';
import type { SignInTokenStore } from '#people/sessions/token-store.ts';
import type { PortalServices } from '../portal-stores.ts';
import type { PostStore } from '../posts/store.ts';
import type { StoredPortalUser } from '../users/schema.ts';
import type { Visitor } from '../visibility/rules.ts';
import type { Markup } from './markup.ts';

/** Services of the pages. */
export interface SiteServices extends PortalServices {
  posts: PostStore;
  vault: Vault;
  signInTokens: SignInTokenStore;
  outbound: OutboundClient;
  /** Apart from that of the dashboard, whose users a flood of the public site must not lock out. */
  portalSignInLimit: SignInLimit;
  writeAudit: WriteAudit;
  log: Log;
}

/** The browser behind a request. */
export interface SiteVisitor {
  /** Undefined while signed out. */
  readonly user: StoredPortalUser | undefined;
  /** Rights: what the visitor may see. */
  readonly rights: Visitor;
  /** Id of the session; empty while signed out. */
  readonly sessionId: string;
  /** Token that forms of this visitor send back. */
  readonly csrfToken: string;
  /** Theme that the visitor chose. */
  readonly theme: 'light' | 'dark' | undefined;
}

/** Query or form fields. An absent or repeated field is empty. */
export type SiteFields = (name: string) => string;

export interface SiteRequest {
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: SiteFields;
  readonly form: SiteFields;
  readonly visitor: SiteVisitor;
  readonly address: string;
  readonly userAgent: string;
  /** Name of the portal: the title of its theme, or the setting. */
  readonly siteName: string;
  readonly isSecure: boolean;
}

/** A document of the site. */
export interface SiteDocument {
  readonly status?: number;
  readonly title: string;
  readonly main: Markup;
  readonly description?: string;
  /** Navigation entry that is current. */
  readonly section?: SiteSection;
  /** The reference uses the whole width. */
  readonly isWide?: boolean;
  readonly cookies?: readonly string[];
  /** Search engines may index the page, where the setting allows it. */
  readonly isIndexable?: boolean;
  /** Template of the theme, where it has it, and the data of the page for it. */
  readonly template?: PageTemplate;
}

export interface PageTemplate {
  readonly name: string;
  readonly path: string;
  /** Texts of content blocks by their names. */
  readonly blocks: Readonly<Record<string, string>>;
}

export type SiteSection = 'home' | 'catalogue' | 'blog' | 'apps' | 'profile' | 'sign-in';

/** Entry of the navigation. */
export interface SiteLink {
  readonly title: string;
  readonly path: string;
}

export interface SiteRedirect {
  readonly redirect: string;
  readonly cookies?: readonly string[];
}

export interface SiteFile {
  readonly file: string | Buffer;
  readonly type: string;
  readonly isImmutable?: boolean;
  /** Content security policy of the file. */
  readonly policy?: string;
  readonly status?: number;
}

export type SiteReply = SiteDocument | SiteRedirect | SiteFile;

/** One route of the site. */
export interface SitePage {
  readonly method: 'GET' | 'POST';
  /** With `:parameters`, each one segment. */
  readonly path: string;
  /** `user`: signed-out visitors are sent to the sign-in page and come back. */
  readonly access: 'all' | 'user';
  /** The reply; undefined for what does not exist, or is not for the visitor. */
  respond(request: SiteRequest, services: SiteServices): Promise<SiteReply | undefined>;
}

/** Path of the sign-in page, which leads back to `next`. */
export const signInPath = '/auth/password/login';
export const toSignInUrl = (next: string): string => `${signInPath}?next=${encodeURIComponent(next)}`;
export const cataloguePath = '/portal/catalogue-products';
export const toProductUrl = ({ Path }: { Path: string }): string => `${cataloguePath}/${encodeURIComponent(Path)}`;
