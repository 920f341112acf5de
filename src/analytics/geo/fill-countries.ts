import { type CallBatch, wordColumns, wordIndex } from '../batch.ts';
import type { GeoDatabase } from './geo-database.ts';

/**
 * Fills in the country of calls without one, by their address. Words of a batch are interned: each address is looked up
 * once. The header of a trusted proxy wins.
 */
export function fillCountries(batch: CallBatch, { locate }: GeoDatabase): CallBatch {
  const words = [...batch.words];
  const { places } = batch;
  const placeByAddress = new Map<number, number>();
  const placeByCountry = new Map<string, number>();

  function findCountryPlace(addressPlace: number): number {
    const known = placeByAddress.get(addressPlace);
    if (known !== undefined) return known;
    const country = locate(words[addressPlace]!)?.country.iso_code ?? '';
    let place = country === '' ? 0 : placeByCountry.get(country);
    if (place === undefined) {
      place = words.push(country) - 1;
      placeByCountry.set(country, place);
    }
    placeByAddress.set(addressPlace, place);
    return place;
  }

  for (let row = 0; row < batch.count; row++) {
    const at = row * wordColumns.length;
    if (places[at + wordIndex.country] === 0)
      places[at + wordIndex.country] = findCountryPlace(places[at + wordIndex.address]!);
  }
  return { ...batch, words };
}
