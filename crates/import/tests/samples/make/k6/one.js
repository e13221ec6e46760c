// One request an iteration at a constant arrival rate: RATE a second for DURATION against URL.
import http from 'k6/http';

export const options = {
  scenarios: {
    steady: {
      executor: 'constant-arrival-rate',
      rate: Number(__ENV.RATE),
      timeUnit: '1s',
      duration: __ENV.DURATION,
      preAllocatedVUs: 20,
      maxVUs: 100,
    },
  },
};

export default function () {
  http.get(`${__ENV.URL}/`, { tags: { name: 'home' } });
}
