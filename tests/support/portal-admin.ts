import { join } from 'node:path';
import { before } from 'node:test';
import { hashWebAppSources, installedBuilds } from '#operations/web-app/location.ts';
import { createWebApp } from '#operations/web-app/web-app.ts';
import { buildApps } from '#ui/build/build-apps.ts';
import type { AppOptions } from './app.ts';
import { addSiteDeveloper, type Developer, type PortalSiteTest, testPortalSite } from './portal-site.ts';

export interface PortalAdminTest extends PortalSiteTest {
  /** An administrator of the portal. */
  anAdmin(more?: Record<string, unknown>): Promise<Developer>;
}

/** The admin app of the portal in Chromium, against the whole product; errors of pages fail the file. */
export function testPortalAdmin(options: AppOptions = {}, listOrigins?: () => readonly string[]): PortalAdminTest {
  before(() => buildApps(join(installedBuilds, hashWebAppSources())));
  const webApp = createWebApp({ directories: [installedBuilds], hashSources: hashWebAppSources });
  const site = testPortalSite({ webApp, ...options }, listOrigins);
  return { ...site, anAdmin: more => addSiteDeveloper(site.app(), { Role: 'provider-admin', ...more }) };
}
