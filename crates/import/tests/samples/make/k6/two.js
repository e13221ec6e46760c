// Iterations at a constant arrival rate (RATE a second for DURATION, at most VUS at once), each with two named requests
// and a check.
import http from 'k6/http';
import { check, group } from 'k6';

export const options = {
  scenarios: {
    visits: {
      executor: 'constant-arrival-rate',
      rate: Number(__ENV.RATE || 20),
      timeUnit: '1s',
      duration: __ENV.DURATION || '5s',
      preAllocatedVUs: Number(__ENV.VUS || 10),
      maxVUs: Number(__ENV.VUS || 50),
    },
  },
};

export default function () {
  const home = http.get(`${__ENV.URL}/`, { tags: { name: 'home' } });
  check(home, { 'is 200': (r) => r.status === 200 });
  group('find', () => {
    http.get(`${__ENV.URL}/search?q=a&n=10`, { tags: { name: 'search, all' } });
  });
}
