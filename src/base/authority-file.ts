import { readFileSync } from 'node:fs';
import { getCACertificates } from 'node:tls';

/** Authorities of a PEM text besides the well-known ones. */
export const addToDefaultAuthorities = (pem: string): string[] => [...getCACertificates('default'), pem];

/** As `addToDefaultAuthorities`, of a file; it is read for each use, so that its replacement needs no restart. */
export const readExtraAuthorities = (path: string): string[] => addToDefaultAuthorities(readFileSync(path, 'utf8'));
