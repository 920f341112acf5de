import type { SitePage } from '../page.ts';
import { blogPages } from './blog.ts';
import { cataloguePages } from './catalogue.ts';
import { filePages } from './files.ts';
import { homePages } from './home.ts';
import { productPages } from './product.ts';
import { searchPages } from './search.ts';
import { signInPages } from './sign-in.ts';

/** Every page of the site, except those of administrators. */
export const sitePages: readonly SitePage[] = [
  ...homePages,
  ...cataloguePages,
  ...productPages,
  ...blogPages,
  ...searchPages,
  ...signInPages,
  ...filePages,
];
