// IMIDM on the heavy top, written for speed: the peer that `polhode bench step` is measured
// against. Fixed-point iteration until converged, quaternions, everything inlined.
//   g++ -O3 -march=native imidm.cpp -o imidm
//   usage: imidm STEPS STEP  ->  seconds, energy drift, final R33
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>

struct V { double x, y, z; };
static inline V operator+(V a, V b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
static inline V operator-(V a, V b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
static inline V operator*(double s, V a) { return {s * a.x, s * a.y, s * a.z}; }
static inline V cross(V a, V b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
static inline double dot(V a, V b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
struct Q { double w; V v; };
static inline Q mul(Q p, Q q) { return {p.w * q.w - dot(p.v, q.v), p.w * q.v + q.w * p.v + cross(p.v, q.v)}; }
static inline V unrotate(Q q, V a) { V t = 2.0 * cross(a, q.v); return a + q.w * t + cross(t, q.v); }
static inline Q expq(V psi) {
    V u = 0.5 * psi;
    double x = dot(u, u), r = std::sqrt(x + 1e-300);
    return {std::cos(r), (std::sin(r) / r) * u};
}

int main(int argc, char **argv) {
    long steps = argc > 1 ? std::atol(argv[1]) : 1000000;
    double h = argc > 2 ? std::atof(argv[2]) : 1e-3;
    const V I = {5, 5, 1}, J = {1 / I.x, 1 / I.y, 1 / I.z};
    const double weight = 20;
    auto omega = [&](V p) { return V{J.x * p.x, J.y * p.y, J.z * p.z}; };
    auto torque = [&](Q q) {
        double R31 = 2 * (q.v.x * q.v.z - q.w * q.v.y), R32 = 2 * (q.v.y * q.v.z + q.w * q.v.x);
        return V{weight * R32, -weight * R31, 0};
    };
    auto energy = [&](Q q, V p) { return 0.5 * dot(p, omega(p)) + weight * (1 - 2 * (q.v.x * q.v.x + q.v.y * q.v.y)); };
    Q q = expq({0.05, 0, 0});
    V Pi = {0, 0, 50};
    double E0 = energy(q, Pi);
    auto began = std::chrono::steady_clock::now();
    for (long n = 0; n < steps; ++n) {
        V W = omega(Pi);
        V psi = h * omega(Pi + (h / 2) * (cross(Pi, W) + torque(q)));
        double scale = std::sqrt(dot(psi, psi));
        Q p;
        V half, T;
        for (int k = 0; k < 50; ++k) {
            p = expq(0.5 * psi);
            T = torque(mul(q, p));
            half = unrotate(p, Pi);
            V next = h * omega(half + (h / 2) * T), d = next - psi;
            psi = next;
            if (std::sqrt(dot(d, d)) <= 1e-15 * scale) break;
        }
        Pi = unrotate(p, half + h * T);
        q = mul(mul(q, p), p);
        double s = 1.5 - 0.5 * (q.w * q.w + dot(q.v, q.v));
        q = {q.w * s, s * q.v};
    }
    double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    std::printf("%.9g %.3e %.15f\n", seconds, energy(q, Pi) / E0 - 1, 1 - 2 * (q.v.x * q.v.x + q.v.y * q.v.y));
}
